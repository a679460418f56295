import type { Field } from '#platform/config'
import { amount, listOrNone, orWord } from '#platform/config-fields'

/** Wallets that take part in a pilot, in lower case; null without a pilot, in which every wallet takes part. */
export type Pilot = ReadonlySet<string> | null

const wallets = listOrNone({
  about: 'wallets that may pay in, borrow and cash out during a pilot, comma-separated; none: every wallet',
  fallback: 'none',
})

/** Wallets of a pilot. Repayments and returns of AUSD are open to every wallet. */
export const pilotWallets: Field<Pilot> = {
  ...wallets,
  type: 'addresses',
  parse: (raw, other) => {
    const all = wallets.parse(raw, other)
    const wrong = all.find((one) => !/^0x[0-9a-fA-F]{40}$/.test(one))
    if (wrong !== undefined) throw new Error('must be addresses, comma-separated, or none')
    if (all.length === 0 && raw !== 'none') throw new Error('must contain at least one address, or be none')
    return raw === 'none' ? null : new Set(all.map((one) => one.toLowerCase()))
  },
}

export const isInPilot = (pilot: Pilot, wallet: string): boolean => pilot === null || pilot.has(wallet.toLowerCase())

/** Limit in whole US dollars on the sum of all wallets, or `none`. */
export const limitOfAll = (about: string) =>
  orWord('none', amount({ most: 10n ** 12n, about: `${about} (whole US dollars); none: no limit`, fallback: 'none' }))

/** Returns the limit in 10⁻⁶ AUSD, or null without one. */
export const microOfAll = (usd: bigint | 'none'): bigint | null => (usd === 'none' ? null : usd * 1_000_000n)
