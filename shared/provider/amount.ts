import { type Static, Type } from 'typebox'
import { decimals, type Fiat, type Money, money } from '#shared/money/money'

/** A JSON number as its source text, so that no float comes between the wire and a bigint. */
export const ProviderNumber = Type.Object({ decimal: Type.String({ maxLength: 64 }) })
export type ProviderNumber = Static<typeof ProviderNumber>

/**
 * Largest amount that a float preserves, with 15 significant digits; beyond that, the sender's JSON writer may round.
 */
const minorMax = 999_999_999_999_999n
const plain = /^([0-9]{1,16})(?:\.([0-9]{1,18}))?$/

/**
 * Converts major units exactly: `5`, `5.0` and `5.00` are 500 sen. Returns undefined for exponents, signs and too many
 * digits.
 */
export function fromProviderAmount<C extends Fiat>({ decimal }: ProviderNumber, currency: C): Money<C> | undefined {
  const [, whole, fraction = ''] = plain.exec(decimal) ?? []
  if (whole === undefined) return undefined
  const places = decimals[currency]
  const significant = fraction.replace(/0+$/, '')
  if (significant.length > places) return undefined
  const minor = BigInt(whole + significant.padEnd(places, '0'))
  return minor > minorMax ? undefined : money(minor, currency)
}

/** Converts to major units. Throws if no JSON number is exactly this amount. */
export function toProviderAmount({ minor, currency }: Money<Fiat>): number {
  const places = decimals[currency]
  const digits = minor.toString().padStart(places + 1, '0')
  const cut = digits.length - places
  const major = Number(places === 0 ? digits : `${digits.slice(0, cut)}.${digits.slice(cut)}`)
  if (fromProviderAmount({ decimal: String(major) }, currency)?.minor !== minor)
    throw new Error(`no JSON number represents exactly ${minor} ${currency} (smallest units)`)
  return major
}
