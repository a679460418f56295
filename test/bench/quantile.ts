/** Returns a quantile by the nearest-rank method, with `q` from 0 to 1. Throws on an empty sample. */
export function quantile(sample: readonly number[], q: number): number {
  if (sample.length === 0) throw new Error('quantile of an empty sample')
  if (!(q >= 0 && q <= 1)) throw new Error(`quantile ${q} is not between 0 and 1`)
  const sorted = [...sample].sort((left, right) => left - right)
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)]!
}
