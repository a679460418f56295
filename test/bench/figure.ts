/**
 * A result. `ratio` relates it to a yardstick of the same run. `value` is null, with the reason in `note`, if it could
 * not be measured.
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

export type Aim = {
  readonly of: 'value' | 'ratio'
  readonly bound: 'at least' | 'at most'
  readonly limit: number
}

export const against = (value: number, yardstick: number, to: string) => ({
  ratio: { value: value / yardstick, to },
})

/** Writes an aim, such as `ratio ≥ 0.2, missed`; empty without an aim. */
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

/** Writes a figure with three significant digits, or as an integer from 1,000 on. */
export function figureText(value: number): string {
  if (Math.abs(value) >= 1_000) return Math.round(value).toLocaleString('en-US')
  return String(Number(value.toPrecision(3)))
}
