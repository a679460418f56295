import type { Context } from './context'

/** The fee of movements that start at `sinceMs` or later, in unix ms. */
type Rate = { readonly sinceMs: number; readonly bps: number }

/** Returns the fee rates, oldest first. */
export const ratesOf = ({ book, config }: Context): readonly Rate[] => [
  { sinceMs: 0, bps: config.feeBps },
  ...book.all('tariffs').map(({ since, bps }) => ({ sinceMs: Date.parse(since), bps })),
]

/** Fee in minor units. The tax is added to it. */
export type Fee = {
  readonly feeMinor: bigint
  readonly taxMinor: bigint
  readonly status: 'COMPLETED' | 'PENDING' | 'CANCELED' | 'NOT_APPLICABLE'
}

const none: Fee = { feeMinor: 0n, taxMinor: 0n, status: 'NOT_APPLICABLE' }
const taxPercent = 11n

type Moved = {
  readonly type: string
  readonly status: string
  readonly amountMinor: bigint
  /** Unix ms. */
  readonly createdMs: number
}

/** Returns the fee of a movement, which is due once the payment or payout has succeeded. */
export function feeOf(rates: readonly Rate[], row: Moved): Fee {
  const bps = rates.findLast(({ sinceMs }) => sinceMs <= row.createdMs)?.bps ?? 0
  if (bps === 0 || (row.type !== 'PAYMENT' && row.type !== 'DISBURSEMENT')) return none
  const feeMinor = (row.amountMinor * BigInt(bps)) / 10_000n
  const taxMinor = (feeMinor * taxPercent) / 100n
  if (row.status === 'SUCCESS') return { feeMinor, taxMinor, status: 'COMPLETED' }
  return { feeMinor, taxMinor, status: row.status === 'PENDING' ? 'PENDING' : 'CANCELED' }
}
