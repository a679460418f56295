import type { Ids } from './ids'

export type Random = {
  hits(probability: number): boolean
  belowMs(limitMs: number): number
  /** Returns one of several forms in which the provider may write the same thing. */
  oneOf<T>(forms: readonly [T, ...T[]]): T
  shuffle<T>(items: readonly T[]): T[]
  reseed(seed: number | null): void
}

export function openRandom(): Random {
  let next: () => number = Math.random
  return {
    hits: (probability) => probability > 0 && next() < probability,
    belowMs: (limitMs) => Math.floor(next() * limitMs),
    oneOf: (forms) => forms[Math.floor(next() * forms.length)]!,
    shuffle: (items) =>
      items
        .map((item) => ({ item, rank: next() }))
        .sort((a, b) => a.rank - b.rank)
        .map(({ item }) => item),
    reseed: (seed) => {
      next = seed === null ? Math.random : mulberry32(seed)
    },
  }
}

export const randomIds: Ids = { hex: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)).toHex() }

// Mulberry32 (Tommy Ettinger, public domain) is small, and deterministic on every machine.
function mulberry32(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
