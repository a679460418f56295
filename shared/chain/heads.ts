import type { Clock } from '#platform/clock'

/** A block as JSON-RPC returns it; its number is hexadecimal. */
export type RawBlock = { readonly number: string }

/** Heads of one block tag, such as `finalized`, as all endpoints reported them. */
export type Heads<E> = {
  /** Notes a head, null if there was none, in the response to a call made at `askedAt` (Unix ms). */
  readonly note: (endpoint: E, block: RawBlock | null, askedAt: number) => void
  /**
   * Returns true if the endpoint's last response lacks a head that another endpoint had reported
   * `graceMs` before the call.
   */
  readonly isBehind: (endpoint: E) => boolean
  readonly askedAt: (endpoint: E) => number | undefined
  /** Number of the newest head; undefined before the first. */
  readonly newest: () => bigint | undefined
}

/** Time within which every healthy endpoint knows a block that another one has. */
const graceMs = 700
/**
 * Time after which the newest head is forgotten if every endpoint reports older ones. The chain itself
 * has lost blocks then: a reorganisation, or a local chain restored from an earlier state.
 */
export const keptMs = 10_000

/** Opens the memory of the newest block that was read. */
export function openNewest(clock: Clock) {
  let newest: bigint | undefined
  let readAtMs = 0
  return {
    /** Number of that block; undefined before the first. */
    number: () => newest,
    /**
     * Returns false if a block is older than one read before. It is true again once none as new has
     * been read for so long that the chain must have lost it.
     */
    take: (block: bigint): boolean => {
      if (newest !== undefined && block < newest && clock() - readAtMs < keptMs) return false
      newest = block
      readAtMs = clock()
      return true
    },
  }
}

/** Opens the comparison of heads; it makes no calls. */
export function openHeads<E>(clock: Clock): Heads<E> {
  const lastOf = new Map<E, { number: bigint; askedAt: number }>()
  const newest = openNewest(clock)
  /** Newest heads with the time they were first seen, oldest first. */
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
    note: (endpoint, block, askedAt) => {
      const number = block ? BigInt(block.number) : -1n
      lastOf.set(endpoint, { number, askedAt })
      if (block) take(number)
    },
    isBehind: (endpoint) => {
      const last = lastOf.get(endpoint)
      if (!last) return false
      const due = firsts.findLast(({ at }) => at <= last.askedAt - graceMs)
      return last.number < 0n || (due !== undefined && last.number < due.number)
    },
    askedAt: (endpoint) => lastOf.get(endpoint)?.askedAt,
    newest: newest.number,
  }
}
