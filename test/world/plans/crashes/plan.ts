import type { Options } from './options'
import type { Path } from './paths'

/** A trial, with a kill at one boundary or at two in turn. */
export type Trial = { readonly path: Path; readonly kills: readonly string[] }

/** Returns true for the publication of an event that no service consumes, which is left out of pairs. */
const isHeardByNobody = (boundary: string) => /:published:(?!relay\.)/.test(boundary)

/** Returns the pairs of boundaries. Both orders count, and each boundary with itself. */
function pairsOf({ inPairs, boundaries }: Path): string[][] {
  if (!inPairs) return []
  const tried = boundaries.filter((boundary) => !isHeardByNobody(boundary))
  const isWanted = (boundary: string) => inPairs === 'all' || inPairs.includes(boundary)
  return tried.flatMap((first) => tried.flatMap((then) => (isWanted(first) || isWanted(then) ? [[first, then]] : [])))
}

/** Plans the trials, shuffled by the seed so that parts are alike. */
export function planOf(paths: readonly Path[], options: Options): Trial[] {
  const { kind, pairs, only, seed, part } = options
  const all = paths
    .filter((path) => kind === undefined || path.kind === kind)
    .flatMap((path) => {
      const tried = pairs ? pairsOf(path) : path.boundaries.map((boundary) => [boundary])
      return tried.map((kills): Trial => ({ path, kills }))
    })
    .filter(({ kills }) => only === undefined || kills.some((name) => name.includes(only)))
    .sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  return shuffled(all, seed).filter((_, at) => at % part.of === part.at - 1)
}

/** Returns a key that does not depend on the order in the source. */
const keyOf = ({ path, kills }: Trial) => [path.name, ...kills].join()

/** Shuffles by Fisher–Yates with the mulberry32 generator. */
function shuffled<T>(items: readonly T[], seed: number): T[] {
  const mixed = [...items]
  let state = seed | 0
  const below = (end: number) => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) % end
  }
  for (let at = mixed.length - 1; at > 0; at--) {
    const other = below(at + 1)
    const moved = mixed[at]!
    mixed[at] = mixed[other]!
    mixed[other] = moved
  }
  return mixed
}
