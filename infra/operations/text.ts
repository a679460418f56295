import { moneyText } from '#shared/money/text'

export const sentence = (...parts: readonly (string | null | undefined | false)[]): string =>
  parts.filter(Boolean).join(', ')

/** Characters that a terminal obeys instead of showing them, or that change the order of those around them. */
const obeyed = /[\p{Cc}\p{Bidi_Control}]/gu

/** Returns a text in which such characters can be seen: a reason may imitate other lines, or hide some. */
export const visible = (text: string): string => text.replace(obeyed, (one) => (one === '\n' ? one : escaped(one)))

/** Returns a text that is certainly one line. */
export const oneLine = (text: string): string => text.replace(obeyed, escaped)

const escaped = (one: string): string => `\\u{${one.codePointAt(0)!.toString(16)}}`

/** Returns true if every character of a text is shown as it is. */
export const isPlain = (text: string): boolean => text.search(obeyed) < 0

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
