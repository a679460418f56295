import type { Hex } from 'viem'

export type SendOutcome =
  | 'forwarded'
  | 'forwarded without an answer'
  | 'swallowed'
  | 'delayed'
  | 'known'
  | 'refused'
  | 'refused again'
  | 'refused by the node'

/** Counts of the proxy, against which the failure suites check. */
export type ProxyJournal = {
  readonly calls: Record<string, number>
  readonly sends: { hash: Hex; outcome: SendOutcome }[]
  requests: number
  /** Number of calls refused with 429. */
  tooMany: number
}

export const openJournal = (): ProxyJournal => ({ calls: {}, sends: [], requests: 0, tooMany: 0 })

export function recordCall(journal: ProxyJournal, method: string): void {
  journal.calls[method] = (journal.calls[method] ?? 0) + 1
}
