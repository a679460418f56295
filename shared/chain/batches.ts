import type { Log } from '#platform/log'
import { type Loop, startLoop } from '#platform/loop'
import type { RpcEndpoint, RpcEndpoints } from '#shared/chain/endpoints'
import { meaningOf } from '#shared/chain/error-meaning'

/** Calls per batch, the lowest limit among public endpoints that support batches. */
export const batchMax = 10

const probe = { method: 'eth_chainId', params: [] }
const deadlineMs = 2_000

export const findBatches = async (endpoints: RpcEndpoints, log: Log): Promise<void> => {
  const unknown = endpoints.all.filter(({ takesBatches }) => takesBatches === undefined)
  await Promise.all(unknown.map((one) => findOut(endpoints, one, log)))
}

async function findOut(endpoints: RpcEndpoints, endpoint: RpcEndpoint, log: Log): Promise<void> {
  const calls = Array.from({ length: batchMax }, () => probe)
  try {
    await endpoints.turn({ calls, among: [endpoint], patienceMs: deadlineMs })
  } catch {
    return // The loop tests this endpoint later.
  }
  const takesBatches = await answersBatch(endpoint.url)
  if (takesBatches === undefined) return
  endpoint.takesBatches = takesBatches
  log.info({ endpoint: endpoint.host, takesBatches }, 'endpoint batch support checked')
}

/**
 * Tests whether an endpoint takes batches as large as ours, because some take only three calls. Returns undefined if it
 * did not respond or limited the call.
 */
async function answersBatch(url: string): Promise<boolean | undefined> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(Array.from({ length: batchMax }, (_, id) => ({ jsonrpc: '2.0', id: id + 1, ...probe }))),
      signal: AbortSignal.timeout(deadlineMs),
    })
    if (response.status === 429 || response.status >= 500) return undefined
    return verdictOn(await response.json().catch(() => null), batchMax)
  } catch {
    return undefined
  }
}

type Answer = { id?: unknown; result?: unknown; error?: { code?: number; message?: string } }

/** Returns whether the body answers each of `asked` calls, with the ids from 1 on. It is undefined after a rate limit. */
export function verdictOn(body: unknown, asked: number): boolean | undefined {
  const answers = (Array.isArray(body) ? body : [body]) as (Answer | null)[]
  const errors = answers.flatMap((one) => one?.error ?? [])
  if (errors.some(({ code, message = '' }) => meaningOf(probe.method, { code, message }) === 'rate')) return undefined
  const ids = answers.filter((one) => one?.result !== undefined).map((one) => one!.id)
  return Array.isArray(body) && ids.length === asked && ids.every((_, at) => ids.includes(at + 1))
}

const everyMs = 10_000

/** Tests endpoints again at intervals, also those that reject a batch later. */
export const startFindingBatches = (endpoints: RpcEndpoints, log: Log): Loop =>
  startLoop({ name: 'batches', everyMs, log, work: () => findBatches(endpoints, log) })
