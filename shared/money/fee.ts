import type { Field } from '#platform/config'

/** Fee of a verb: a fixed amount in smallest units of the currency, and basis points of the amount before the fee. */
export type Fee = { readonly fixedMinor: bigint; readonly bps: bigint }

export const noFee: Fee = { fixedMinor: 0n, bps: 0n }

/** Fee as quotes have it. */
export type QuotedFee = { readonly fixed: string; readonly bps: number }

/** Reads the fee of a quote, which has none if it is omitted. */
export const quotedFee = (fee: QuotedFee | undefined): Fee =>
  fee ? { fixedMinor: BigInt(fee.fixed), bps: BigInt(fee.bps) } : noFee

/** Returns the fee of an amount in smallest units, with the part in basis points rounded up. It may exceed the amount. */
export const feeCeil = (amountMinor: bigint, { fixedMinor, bps }: Fee): bigint =>
  fixedMinor + (amountMinor * bps + 9_999n) / 10_000n

/** Returns the least amount in smallest units that leaves `restMinor` after a fee of less than the whole amount. */
export const amountBeforeFee = (restMinor: bigint, { fixedMinor, bps }: Fee): bigint => {
  const shareLeft = 10_000n - bps
  return ((restMinor + fixedMinor) * 10_000n + shareLeft - 1n) / shareLeft
}

/** Returns the fee as it is set and signed, such as `5550+25`. */
export const feeText = ({ fixedMinor, bps }: Fee): string => `${fixedMinor}+${bps}`

export const isFree = ({ fixedMinor, bps }: Fee): boolean => fixedMinor === 0n && bps === 0n

/** Highest part of a fee in basis points: a tenth of the amount. */
export const bpsMax = 1_000n

/** Reads a fee such as `5550+25`, of any height. */
export function feeOfText(text: string): Fee {
  const [, fixed, bps] = /^([0-9]{1,12})\+([0-9]{1,5})$/.exec(text) ?? []
  if (fixed === undefined || bps === undefined) throw new Error('must be a fixed amount and basis points, e.g. 5550+25')
  return { fixedMinor: BigInt(fixed), bps: BigInt(bps) }
}

/** Reads a fee such as `5550+25`. `fixedMax`: the highest fixed part, in smallest units of the currency. */
export const feeField = ({ about, fixedMax }: { about: string; fixedMax: bigint }): Field<Fee> => ({
  type: `fixed+basis points, from 0+0 to ${fixedMax}+${bpsMax}`,
  about,
  secret: false,
  fallback: feeText(noFee),
  parse: (raw) => {
    const fee = feeOfText(raw)
    if (fee.fixedMinor > fixedMax || fee.bps > bpsMax) throw new Error(`must be at most ${fixedMax}+${bpsMax}`)
    return fee
  },
})
