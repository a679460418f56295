import { against, type Figure } from '../figure'
import { quantile } from '../quantile'

/** Returns quantiles in ms, each relative to the yardstick. */
export const quantileFigures = (
  bench: string,
  name: string,
  sample: readonly number[],
  yardstick: { readonly value: number; readonly to: string },
): Figure[] =>
  [50, 99].map((percent) => {
    const value = quantile(sample, percent / 100)
    const note = percent === 50 ? { note: `${sample.length} samples` } : {}
    const ratio = against(value, yardstick.value, yardstick.to)
    return { bench, name: `${name}, p${percent}`, value, unit: 'ms', ...ratio, ...note }
  })
