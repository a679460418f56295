export type Point = { readonly at: number; readonly value: number }

/** Returns the growth of `value` per unit of `at`, by least squares, or NaN for fewer than two distinct times. */
export function slopeOf(points: readonly Point[]): number {
  const mean = (pick: (point: Point) => number) => points.reduce((sum, point) => sum + pick(point), 0) / points.length
  const [atMean, valueMean] = [mean(({ at }) => at), mean(({ value }) => value)]
  const together = mean(({ at, value }) => (at - atMean) * (value - valueMean))
  const spread = mean(({ at }) => (at - atMean) ** 2)
  return spread > 0 ? together / spread : Number.NaN
}
