import type { Clock } from '#platform/clock'

export type RawBlock = { readonly number: string; readonly hash: string }

/** A block that an endpoint reported. */
export type Sighting = { readonly number: bigint; readonly hash: string }

/** Heads of all endpoints for one block tag, such as `finalized`. */
export type Heads<E> = {
  /** Records a response, with the time of its request in Unix ms. */
  readonly record: (endpoint: E, block: RawBlock | null, askedAt: number) => void
  /**
   * Returns true if the endpoint's last response lacks a head that another one had reported `graceMs` before the
   * request. A response says nothing once it is older than `keptMs`.
   */
  readonly isBehind: (endpoint: E) => boolean
  readonly askedAt: (endpoint: E) => number | undefined
  /** Returns the block that the endpoint reported last, or undefined if it had none. */
  readonly last: (endpoint: E) => Sighting | undefined
  readonly newest: () => bigint | undefined
}

/** Time in ms after which every healthy endpoint knows another one's block. */
const graceMs = 700
/**
 * Time in ms after which the chain has lost blocks if all endpoints report older heads: by a reorganisation, or because
 * a local chain was restored.
 */
export const keptMs = 10_000

export function openNewest(clock: Clock) {
  let newest: bigint | undefined
  let readAtMs = 0
  return {
    number: () => newest,
    /** Records a block. Returns false if it is older than the newest one, unless the chain must have lost that one. */
    take: (block: bigint): boolean => {
      if (newest !== undefined && block < newest && clock() - readAtMs < keptMs) return false
      newest = block
      readAtMs = clock()
      return true
    },
  }
}

export function openHeads<E>(clock: Clock): Heads<E> {
  const lastOf = new Map<E, { number: bigint; hash: string; askedAt: number }>()
  const newest = openNewest(clock)
  /** First report of each head, oldest first. */
  let firsts: { number: bigint; at: number }[] = []

  const take = (number: bigint) => {
    const before = newest.number()
    if (!newest.take(number)) return
    if (before !== undefined && number < before) firsts = []
    else if (number !== before) firsts.push({ number, at: clock() })
    const old = firsts.findLastIndex(({ at }) => clock() - at > keptMs)
    if (old > 0) firsts = firsts.slice(old)
  }
  return {
    record: (endpoint, block, askedAt) => {
      const number = block ? BigInt(block.number) : -1n
      lastOf.set(endpoint, { number, hash: block?.hash ?? '', askedAt })
      if (block) take(number)
    },
    isBehind: (endpoint) => {
      const last = lastOf.get(endpoint)
      if (!last || clock() - last.askedAt > keptMs) return false
      const due = firsts.findLast(({ at }) => at <= last.askedAt - graceMs)
      return last.number < 0n || (due !== undefined && last.number < due.number)
    },
    askedAt: (endpoint) => lastOf.get(endpoint)?.askedAt,
    last: (endpoint) => {
      const last = lastOf.get(endpoint)
      return last && last.number >= 0n ? last : undefined
    },
    newest: newest.number,
  }
}
