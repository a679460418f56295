import { moneyText } from '#shared/money/text'

export const sentence = (...parts: readonly (string | null | undefined | false)[]): string =>
  parts.filter(Boolean).join(', ')

/** Formats a count with its noun: `1 payment`, `2 payments`. */
export const counted = (count: number, what: string): string => `${count} ${count === 1 ? what : `${what}s`}`

/** Formats a rate given in the smallest unit: `Rp 16,250 per dollar`. */
export const rateText = (minorPerUsd: string, currency: string): string =>
  `${moneyText(minorPerUsd, currency)} per dollar`

export const factsOf = (facts: Readonly<Record<string, string | number | null | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(facts).flatMap(([name, value]) =>
      value === null || value === undefined ? [] : [[name, String(value)]],
    ),
  )
