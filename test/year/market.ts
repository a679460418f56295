import { readFileSync } from 'node:fs'
import type { Pair } from '#shared/money/pair'
import { localE8From } from '../../services/pricing/rate'

const dataOf = (name: string) => JSON.parse(readFileSync(`${import.meta.dir}/${name}.json`, 'utf8'))

/** Dollars, rupiah and ringgit per euro on each day on which the European Central Bank fixed them. */
const days: readonly (readonly [day: string, usd: string, idr: string, myr: string])[] = dataOf('market-2025').days
const { indonesia, malaysia }: Record<'indonesia' | 'malaysia', readonly (readonly [day: string, name: string])[]> =
  dataOf('holidays-2025')

/** Public holidays of 2025 as days such as `2025-03-31`, on which the central bank of each country publishes no rate. */
export const holidays = {
  'USD/IDR': new Set(indonesia.map(([day]) => day)),
  'USD/MYR': new Set(malaysia.map(([day]) => day)),
} as const

export const hourMs = 3_600_000
export const dayMs = 24 * hourMs

/** Time of day of the fixing, 14:15 in Frankfurt, in ms. */
const fixingMs = 13.25 * hourMs

/** Price of a dollar in 10⁻⁸ of the local currency at each fixing. */
const fixings = (pair: Pair) =>
  days.map(([day, usd, idr, myr]) => ({
    atMs: Date.parse(day) + fixingMs,
    localE8: (localE8From(pair === 'USD/IDR' ? idr : myr)! * 100_000_000n) / localE8From(usd)!,
  }))
const fixed = { 'USD/IDR': fixings('USD/IDR'), 'USD/MYR': fixings('USD/MYR') } as const

/** Returns the price of a dollar at a time, between the fixing before and the one after it. 10⁻⁸ of the local currency. */
export function marketE8At(pair: Pair, atMs: number): bigint {
  const next = fixed[pair].findIndex((fixing) => fixing.atMs > atMs)
  const [before, after] = [fixed[pair][next - 1], fixed[pair][next]]
  if (!before || !after) throw new Error(`there are no fixings around ${new Date(atMs).toISOString()}`)
  const gone = BigInt(atMs - before.atMs)
  return before.localE8 + ((after.localE8 - before.localE8) * gone) / BigInt(after.atMs - before.atMs)
}

export const isWeekend = (atMs: number): boolean => [0, 6].includes(new Date(atMs).getUTCDay())
