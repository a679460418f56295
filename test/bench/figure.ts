/**
 * One measured number. `ratio` relates it to a yardstick of the same run on the same machine, so
 * that runs on different machines compare. A figure that could not be taken has `value` null and a
 * `note` that says why.
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

/** What a figure's value, or its ratio, should reach: at least or at most `limit`. */
export type Aim = {
  readonly of: 'value' | 'ratio'
  readonly bound: 'at least' | 'at most'
  readonly limit: number
}

/** A figure over its yardstick. */
export const against = (value: number, yardstick: number, to: string) => ({
  ratio: { value: value / yardstick, to },
})

/** The limit, and whether it was met: `ratio ≥ 0.2, missed`; empty where nothing is aimed at. */
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

/** Four digits are all that a measurement of this kind can claim. */
export function figureText(value: number): string {
  if (Math.abs(value) >= 1_000) return Math.round(value).toLocaleString('en-US')
  return String(Number(value.toPrecision(3)))
}
