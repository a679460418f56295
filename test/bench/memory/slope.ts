/** A point of a line: when, and how much. */
export type Point = { readonly at: number; readonly value: number }

/**
 * By how much `value` grows for each unit of `at`: the line through the points with the least squares.
 * NaN of fewer than two moments.
 */
export function slopeOf(points: readonly Point[]): number {
  const mean = (pick: (point: Point) => number) =>
    points.reduce((sum, point) => sum + pick(point), 0) / points.length
  const [atMean, valueMean] = [mean(({ at }) => at), mean(({ value }) => value)]
  const together = mean(({ at, value }) => (at - atMean) * (value - valueMean))
  const spread = mean(({ at }) => (at - atMean) ** 2)
  return spread > 0 ? together / spread : Number.NaN
}
