import type { Hex } from 'viem'

/** Outcome of a send. */
export type SendOutcome =
  | 'forwarded'
  | 'forwarded without an answer'
  | 'swallowed'
  | 'delayed'
  | 'known'
  | 'refused'
  | 'refused again'
  | 'refused by the node'

/** Record of the proxy's traffic, against which the failure suites check. */
export type Journal = {
  readonly calls: Record<string, number>
  readonly sends: { hash: Hex; outcome: SendOutcome }[]
  requests: number
  /** Number of requests refused with 429. */
  tooMany: number
}

export const openJournal = (): Journal => ({ calls: {}, sends: [], requests: 0, tooMany: 0 })

export function noteCall(journal: Journal, method: string): void {
  journal.calls[method] = (journal.calls[method] ?? 0) + 1
}
