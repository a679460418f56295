import type { Clock } from '#platform/clock'
import { openNewest } from '#shared/chain/heads'

export type CallCounts<N = number> = {
  readonly requests: N
  readonly ethCalls: N
  /** Number of requests that neither submit nor simulate a transaction. */
  readonly overhead: N
}

export type CallsPerBlock = CallCounts<number | null>

export type CallsPerBlockCounter = {
  readonly count: (calls: CallCounts) => void
  readonly sawHead: (blockNumber: number) => void
  readonly read: () => CallsPerBlock
}

type Mark = CallCounts & { readonly head: number }

const windowBlocks = 100

/** Counts calls per block over the last one to two windows, or since the chain lost blocks. */
export function openCallsPerBlock(clock: Clock): CallsPerBlockCounter {
  const newest = openNewest(clock)
  let total: CallCounts = { requests: 0, ethCalls: 0, overhead: 0 }
  let [older, newer, last]: (Mark | undefined)[] = []
  return {
    count: ({ requests, ethCalls, overhead }) => {
      total = {
        requests: total.requests + requests,
        ethCalls: total.ethCalls + ethCalls,
        overhead: total.overhead + overhead,
      }
    },
    sawHead: (head) => {
      if (!newest.take(BigInt(head)) || head === last?.head) return
      if (last && head < last.head) [older, newer] = [undefined, undefined]
      last = { head, ...total }
      if (!newer || head >= newer.head + windowBlocks) [older, newer] = [newer ?? last, last]
    },
    read: () => {
      if (!older || !last || last.head === older.head) return { requests: null, ethCalls: null, overhead: null }
      const blocks = last.head - older.head
      const perBlock = (calls: number) => Math.round((calls / blocks) * 100) / 100
      return {
        requests: perBlock(last.requests - older.requests),
        ethCalls: perBlock(last.ethCalls - older.ethCalls),
        overhead: perBlock(last.overhead - older.overhead),
      }
    },
  }
}
