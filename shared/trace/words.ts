import { moneyText } from '#shared/money/text'

/** The parts of a sentence that are there. */
export const sentence = (...parts: readonly (string | null | undefined | false)[]): string =>
  parts.filter(Boolean).join(', ')

/** So many of something: `1 payment`, `2 payments`. */
export const counted = (count: number, what: string): string =>
  `${count} ${count === 1 ? what : `${what}s`}`

/** What a dollar costs, of a rate in the smallest unit: `Rp 16,250 a dollar`. */
export const rateText = (minorPerUsd: string, currency: string): string =>
  `${moneyText(minorPerUsd, currency)} a dollar`

/** Facts by name, without those that are not known. */
export const factsOf = (
  facts: Readonly<Record<string, string | number | null | undefined>>,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(facts).flatMap(([name, value]) =>
      value === null || value === undefined ? [] : [[name, String(value)]],
    ),
  )
