/**
 * What a failed request says about the next one.
 * `range`: ask for fewer blocks. `behind`: this node has not seen those blocks. `busy`: ask later.
 * `broken`: the endpoint is away, or answers what cannot be so.
 */
export type FaultKind = 'range' | 'late' | 'behind' | 'busy' | 'broken'

export class RpcFault extends Error {
  override name = 'RpcFault'
  constructor(
    readonly kind: FaultKind,
    message: string,
  ) {
    super(message)
  }
}

/** The endpoint answers, and it is not the chain we read: nothing it says is used. */
export class AnotherChain extends RpcFault {
  override name = 'AnotherChain'
  constructor(what: string) {
    super('broken', `the endpoint is another chain: ${what}`)
  }
}

/** Monad's public endpoints and nodes, then what other providers say of the same thing. */
const rangeCodes: ReadonlySet<number> = new Set([-32614, -32602, -32005, -32012, -32062])
const rangeWords = /range|too (large|many|big|wide)|limited to|response size|exceed|timed? ?out/i
const behindWords = /not found|out ?of ?range|unknown block|beyond|after last/i
const busyWords = /rate limit|too many requests|overloaded|try again/i

/** Codes changed between releases of the node, so an unknown one is decided by its words. */
export function kindOfError(code: number, message: string): FaultKind {
  if (code === 429 || busyWords.test(message)) return 'busy'
  if (behindWords.test(message)) return 'behind'
  if (rangeCodes.has(code) || rangeWords.test(message)) return 'range'
  return 'broken'
}

/** A body that is no JSON-RPC answer leaves only the status to go by. */
export function kindOfStatus(status: number): FaultKind {
  if (status === 413) return 'range'
  if (status === 429) return 'busy'
  if (status === 408 || status === 504) return 'late'
  return 'broken'
}
