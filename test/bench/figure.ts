/**
 * One measured number. `ratio` relates it to a yardstick of the same run, so that runs on different
 * machines can be compared. A figure that could not be measured has a null `value` and the reason
 * as `note`.
 */
export type Figure = {
  readonly bench: string
  readonly name: string
  readonly value: number | null
  readonly unit: string
  readonly ratio?: { readonly value: number; readonly to: string }
  readonly aim?: Aim
  readonly note?: string
}

/** Limit for a figure's value or ratio. */
export type Aim = {
  readonly of: 'value' | 'ratio'
  readonly bound: 'at least' | 'at most'
  readonly limit: number
}

/** Returns the ratio of a figure to its yardstick. */
export const against = (value: number, yardstick: number, to: string) => ({
  ratio: { value: value / yardstick, to },
})

/** Formats the limit and whether it was met: `ratio ≥ 0.2, missed`; empty without an aim. */
export function aimText({ aim, value, ratio, unit }: Figure): string {
  if (!aim) return ''
  const reached = aim.of === 'value' ? value : ratio?.value
  const sign = aim.bound === 'at least' ? '≥' : '≤'
  const limit = figureText(aim.limit)
  const said = aim.of === 'ratio' ? `ratio ${sign} ${limit}` : `${sign} ${limit} ${unit}`.trim()
  if (reached === null || reached === undefined) return said
  const met = aim.bound === 'at least' ? reached >= aim.limit : reached <= aim.limit
  return `${said}, ${met ? 'met' : 'missed'}`
}

/** Formats a number with three significant digits, or as an integer from 1,000. */
export function figureText(value: number): string {
  if (Math.abs(value) >= 1_000) return Math.round(value).toLocaleString('en-US')
  return String(Number(value.toPrecision(3)))
}
