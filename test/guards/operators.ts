/** Takes the guard out of the code below its mark. Throws if it does not apply. */
export type Operator = (code: string) => string

export const dropped: Operator = () => ''
/** Makes the condition, or else the value, false (`never`) or true (`always`). */
export const never: Operator = (code) => withValue(code, 'false')
export const always: Operator = (code) => withValue(code, 'true')

/** Takes out a guard that `mutations.ts` does not name: the code is dropped, and an `if` never applies. */
export const leftOut: Operator = (code) => (/^\s*if \(/.test(code) ? never(code) : dropped(code))

/** Puts other code before the code, in its place in the order of statements. */
export const preceded =
  (by: string): Operator =>
  (code) =>
    `${by}\n${code}`
export const followed =
  (by: string): Operator =>
  (code) =>
    `${code}${by}\n`

/** Puts `others` in the place of `words`. */
export const instead =
  (words: string, others: string): Operator =>
  (code) => {
    const at = placeOf(code, words)
    return code.slice(0, at) + others + code.slice(at + words.length)
  }

/** Leaves out the operand, argument, property or method call that begins with `words`. */
export const without =
  (words: string): Operator =>
  (code) => {
    const at = placeOf(code, words)
    const tokens = tokensOf(code)
    const nearest = tokens.findLastIndex(({ from }) => from <= at)
    const first = edgeOf(tokens, nearest, -1)
    const last = edgeOf(tokens, nearest, 1)
    const [before = '', after = ''] = [tokens[first - 1]?.text, tokens[last + 1]?.text]
    // The last operand of an argument is removed together with the operator that joins it to the others.
    const isLast = after.trim() === ',' && before.trim() !== ','
    const isPreceded = joint.test(before) && (isLast || !joint.test(after))
    const isFollowed = !isPreceded && joint.test(after)
    return tokens
      .filter((_, n) => n < first - (isPreceded ? 1 : 0) || n > last + (isFollowed ? 1 : 0))
      .map(({ text }) => text)
      .join('')
  }

type Token = { readonly text: string; readonly from: number }

/** Splits code into tokens; a bracket in a string counts too. */
const tokensOf = (code: string): Token[] =>
  [
    ...code.matchAll(
      /\s*(?:&&|\|\||\?\?|=>|,)\s*|\s+(?:[-+*?:=]|and|or)\s+|\breturn\s|\.(?=\w+\()|\w+(?:\.\w+\b(?!\())*|\s+|./gs,
    ),
  ].map(({ 0: text, index: from }) => ({ text, from }))
const joint = /^(?:\s*(?:&&|\|\||\?\?|,)\s*|\s+(?:[-+*]|and|or)\s+|\.)$/
const end = /^(?:\s*(?:=>|;|`)\s*|\s+[?:=]\s+|return\s)$/

/** Returns the last token of the operand in this direction. */
function edgeOf(tokens: readonly Token[], from: number, by: 1 | -1): number {
  const [opening, closing] = by > 0 ? ['([{', ')]}'] : [')]}', '([{']
  let depth = opening!.includes(tokens[from]!.text) ? 1 : 0
  let at = from
  for (; tokens[at + by]; at += by) {
    const { text } = tokens[at + by]!
    if (opening!.includes(text)) depth++
    else if (closing!.includes(text) && depth-- === 0) break
    else if (depth === 0 && (joint.test(text) || end.test(text))) break
  }
  while (/^\s+$/.test(tokens[at]!.text)) at -= by
  return at
}

function placeOf(code: string, words: string): number {
  const count = code.split(words).length - 1
  if (count !== 1) throw new Error(`${count} occurrences instead of 1 of: ${words}`)
  return code.indexOf(words)
}

/** Replaces a value: the condition of `if` or of `? :`, else the code after `return`, `=>`, `=` or `:`. */
function withValue(code: string, value: string): string {
  const tokens = tokensOf(code)
  const heads = [/^\s*if \(/, /\breturn\s/, /=>\s/, /\s=\s/, /:\s/, /^\s*/]
  const { index, 0: head } = heads.map((one) => one.exec(code)).find((one) => one !== null)!
  const first = tokens.findIndex(({ from }) => from >= index + head.length)
  let last = first
  for (let depth = 0; tokens[last]; last++) {
    const { text } = tokens[last]!
    if ('([{'.includes(text)) depth++
    else if (')]}'.includes(text) && depth-- === 0) break
    else if (depth === 0 && /^(?:\s+\?\s+|,\s*|;)$/.test(text)) break
  }
  while (/^\s+$/.test(tokens[last - 1]?.text ?? '')) last--
  const textOf = (some: readonly Token[]) => some.map(({ text }) => text).join('')
  return textOf(tokens.slice(0, first)) + value + textOf(tokens.slice(last))
}
