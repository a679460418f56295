/**
 * What a failed request says about the next one.
 * `range`: ask for fewer blocks. `behind`: this node has not seen those blocks. `busy`: ask later.
 * `broken`: the endpoint is away, or its answer cannot be true.
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

export type RpcCall = { readonly method: string; readonly params: readonly unknown[] }

type RpcError = { code?: number; message?: string }
type RpcAnswer = { id?: unknown; result?: unknown; error?: RpcError }

/**
 * Asks one endpoint several things in one JSON-RPC batch, so that one node answers all of them
 * wherever the endpoint is a single node. Results in the order of the calls; throws `RpcFault`.
 */
export async function rpcBatch(
  url: string,
  calls: readonly RpcCall[],
  deadlineMs: number,
): Promise<unknown[]> {
  const signal = AbortSignal.timeout(deadlineMs)
  const body = calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }))
  const { status, text } = await post(url, JSON.stringify(body), signal)
  const answers = parse(status, text)
  const byId = new Map(answers.map((answer) => [answer.id, answer]))
  return calls.map((call, id) => {
    const answer = byId.get(id)
    if (answer?.error) throw faultOf(answer.error, `${call.method}: `)
    if (!answer || !('result' in answer))
      throw new RpcFault('broken', `${call.method} got no answer`)
    return answer.result
  })
}

async function post(url: string, body: string, signal: AbortSignal) {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      signal,
    })
    return { status: response.status, text: await response.text() }
  } catch (cause) {
    // The message of a network error may hold the address, and the address may hold a key.
    if (signal.aborted) throw new RpcFault('late', 'the endpoint did not answer in time')
    throw new RpcFault('broken', `the endpoint cannot be reached (${codeOf(cause)})`)
  }
}

const codeOf = (cause: unknown) => String((cause as { code?: unknown }).code ?? 'unknown')

function parse(status: number, text: string): RpcAnswer[] {
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    throw new RpcFault(kindOfStatus(status), `the endpoint answered ${status} without JSON`)
  }
  if (Array.isArray(answer)) return answer
  const { error } = (answer ?? {}) as RpcAnswer
  if (status === 413 || status === 429) throw new RpcFault(kindOfStatus(status), textOf(error))
  throw error
    ? faultOf(error)
    : new RpcFault(kindOfStatus(status), `the endpoint answered ${status} without a batch`)
}

const faultOf = (error: RpcError, prefix = '') =>
  new RpcFault(kindOfError(error.code ?? 0, error.message ?? ''), `${prefix}${textOf(error)}`)

const textOf = (error?: RpcError) =>
  `${error?.message?.slice(0, 200) ?? 'no message'} (${error?.code ?? 'no code'})`

/** Monad's public endpoints and nodes, then what other providers call the same thing. */
const rangeCodes: ReadonlySet<number> = new Set([-32614, -32602, -32005, -32012, -32062])
const rangeWords = /range|too (large|many|big|wide)|limited to|response size|exceed|timed? ?out/i
const behindWords = /not found|out ?of ?range|unknown block|beyond|after last/i
const busyWords = /rate limit|too many requests|overloaded|try again/i

/** Codes changed between releases of the node, so an unknown one is decided by its message. */
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
