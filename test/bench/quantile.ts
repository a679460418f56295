/**
 * The q-quantile (0 to 1) of a sample, by the nearest-rank method: a value that was really measured,
 * the smallest that at least q of all are not above. Throws on an empty sample.
 */
export function quantile(sample: readonly number[], q: number): number {
  if (sample.length === 0) throw new Error('a quantile of nothing')
  if (!(q >= 0 && q <= 1)) throw new Error(`no quantile ${q}`)
  const sorted = [...sample].sort((left, right) => left - right)
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)]!
}
