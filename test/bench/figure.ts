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
  readonly note?: string
}

/** A figure over its yardstick. */
export const against = (value: number, yardstick: number, to: string) => ({
  ratio: { value: value / yardstick, to },
})

/** Four digits are all that a measurement of this kind can claim. */
export function figureText(value: number): string {
  if (Math.abs(value) >= 1_000) return Math.round(value).toLocaleString('en-US')
  return String(Number(value.toPrecision(3)))
}
