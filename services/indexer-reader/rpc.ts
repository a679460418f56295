import { kindOfError, kindOfStatus, RpcFault } from './rpc-fault.ts'

export type RpcCall = { readonly method: string; readonly params: readonly unknown[] }

type RpcAnswer = { id?: unknown; result?: unknown; error?: { code?: number; message?: string } }

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
    if (answer?.error) throw faultOf(call, answer.error)
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
  if (status === 413 || status === 429) throw new RpcFault(kindOfStatus(status), wordsOf(error))
  throw error
    ? new RpcFault(kindOfError(error.code ?? 0, error.message ?? ''), wordsOf(error))
    : new RpcFault(kindOfStatus(status), `the endpoint answered ${status} without a batch`)
}

const faultOf = (call: RpcCall, error: { code?: number; message?: string }) =>
  new RpcFault(
    kindOfError(error.code ?? 0, error.message ?? ''),
    `${call.method}: ${wordsOf(error)}`,
  )

const wordsOf = (error?: { code?: number; message?: string }) =>
  `${error?.message?.slice(0, 200) ?? 'no message'} (${error?.code ?? 'no code'})`
