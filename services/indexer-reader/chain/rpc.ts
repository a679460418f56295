import { systemClock } from '#platform/clock'
import type { RpcCall, RpcEndpoint, RpcEndpoints } from '#shared/chain/endpoints'
import { rpcCalls } from '#shared/chain/rpc-calls'
import { isTooOften } from '#shared/chain/too-often'
import { BudgetExhausted } from '#shared/chain/turns'
import { retryAfterMs } from '#shared/provider/answer'

/**
 * Kind of a fault. `range`: request fewer blocks. `late`: the endpoint timed out. `behind`: the node lacks these blocks
 * so far. `busy`: the endpoint limits its requests. `broken`: the endpoint is down or its answer is invalid.
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

export type Rpc = { readonly endpoint: RpcEndpoint; readonly endpoints: RpcEndpoints }

type RpcError = { code?: number; message?: string }
type RpcAnswer = { id?: unknown; result?: unknown; error?: RpcError }

/**
 * Sends a batch, which one node answers unless a load balancer is in between. The deadline starts once the budget
 * allows the calls.
 */
export async function rpcBatch(rpc: Rpc, calls: readonly RpcCall[], deadlineMs: number): Promise<unknown[]> {
  const { endpoint, endpoints } = rpc
  await endpoints.turn({ calls, among: [endpoint], patienceMs: deadlineMs }).catch((error) => {
    throw error instanceof BudgetExhausted ? new RpcFault('busy', error.message) : error
  })
  const signal = AbortSignal.timeout(deadlineMs)
  const startedMs = performance.now()
  const tell = (outcome: 'ok' | 'failed') => {
    const method = calls[0]?.method ?? 'none'
    rpcCalls.since(startedMs, { endpoint: endpoint.host, method, outcome })
  }
  const asks = calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }))
  const asking = endpoint.takesBatches
    ? ask(rpc, asks, signal)
    : Promise.all(asks.map((one) => ask(rpc, one, signal))).then((all) => all.flat())
  const answers = await asking.catch((error) => {
    tell('failed')
    throw error
  })
  tell('ok')
  const byId = new Map(answers.map((answer) => [answer.id, answer]))
  return calls.map((call, id) => {
    const answer = byId.get(id)
    if (answer?.error) throw refusalOf(rpc, answer.error, `${call.method}: `)
    if (!answer || !('result' in answer)) throw new RpcFault('broken', `${call.method} got no response`)
    endpoints.record(call, answer.result)
    return answer.result
  })
}

async function ask(rpc: Rpc, asked: object | object[], signal: AbortSignal): Promise<RpcAnswer[]> {
  const { url } = rpc.endpoint
  const { status, headers, text } = await post(url, JSON.stringify(asked), signal).catch((error) => {
    rpc.endpoints.lost(rpc.endpoint, error)
    throw error
  })
  rpc.endpoints.answered(rpc.endpoint)
  if (status === 429) rpc.endpoints.close(rpc.endpoint, retryAfterMs(headers, systemClock()))
  const answer = parse(status, text)
  if (Array.isArray(answer)) return answer
  if (!Array.isArray(asked) && status !== 413 && status !== 429 && isAnswer(answer)) return [answer]
  // The endpoint may no longer support batches, so calls are single until the next test.
  if (Array.isArray(asked) && status !== 429) rpc.endpoint.takesBatches = undefined
  if (status === 413 || status === 429) throw new RpcFault(kindOfStatus(status), textOf(answer.error))
  throw answer.error
    ? refusalOf(rpc, answer.error)
    : new RpcFault(kindOfStatus(status), `the endpoint responded ${status} without a result`)
}

const isAnswer = (answer: RpcAnswer) => 'result' in answer || answer.error !== undefined

function refusalOf({ endpoint, endpoints }: Rpc, error: RpcError, prefix?: string): RpcFault {
  if (isTooOften(error.code, error.message ?? '')) endpoints.close(endpoint, closedMs)
  return faultOf(error, prefix)
}

const closedMs = 1_000

async function post(url: string, body: string, signal: AbortSignal) {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      signal,
    })
    const { status, headers } = response
    return { status, headers, text: await response.text() }
  } catch (cause) {
    // The error is not passed on, because a network error may contain the URL with its key.
    if (signal.aborted) throw new RpcFault('late', 'the endpoint timed out')
    throw new RpcFault('broken', `the endpoint cannot be reached (${codeOf(cause)})`)
  }
}

const codeOf = (cause: unknown) => String((cause as { code?: unknown }).code ?? 'unknown')

function parse(status: number, text: string): RpcAnswer | RpcAnswer[] {
  try {
    return (JSON.parse(text) ?? {}) as RpcAnswer | RpcAnswer[]
  } catch {
    throw new RpcFault(kindOfStatus(status), `the endpoint responded ${status} without JSON`)
  }
}

const faultOf = (error: RpcError, prefix = '') =>
  new RpcFault(kindOfError(error.code ?? 0, error.message ?? ''), `${prefix}${textOf(error)}`)

const textOf = (error?: RpcError) => `${error?.message?.slice(0, 200) ?? 'no message'} (${error?.code ?? 'no code'})`

/** Codes of a refused range: those of Monad's public endpoints and nodes, then those of others. */
const rangeCodes: ReadonlySet<number> = new Set([-32614, -32602, -32005, -32012, -32062])
const rangeWords = /range|too (large|many|big|wide)|limited to|response size|exceed|timed? ?out/i
const behindWords = /not found|out ?of ?range|unknown block|beyond|after last/i
const busyWords = /overloaded|try again/i

/** Code of "method not found", which is no statement about blocks. */
const noMethod = -32601

/** Classifies an error. Codes differ between node releases, so the message decides as well. */
export function kindOfError(code: number, message: string): FaultKind {
  if (isTooOften(code, message) || busyWords.test(message)) return 'busy'
  if (code === noMethod) return 'broken'
  if (behindWords.test(message)) return 'behind'
  if (rangeCodes.has(code) || rangeWords.test(message)) return 'range'
  return 'broken'
}

export function kindOfStatus(status: number): FaultKind {
  if (status === 413) return 'range'
  if (status === 429) return 'busy'
  if (status === 408 || status === 504) return 'late'
  return 'broken'
}
