import { steadyClock } from '#platform/clock'
import type { Log } from '#platform/log'
import { type Loop, startLoop } from '#platform/loop'
import { openAsker } from '#shared/chain/asker'
import { onlyOf, type RpcEndpoint, type RpcEndpoints } from '#shared/chain/endpoints'
import type { RpcCall } from '#shared/chain/methods'

const everyMs = 500
const deadlineMs = 2_000
const closedMs = 2_000
/** A node can begin to serve another history at any time, as after a restore of its data. */
const historyEveryMs = 10_000
const finalized = { method: 'eth_getBlockByNumber', params: ['finalized', false] }

/**
 * Reads the finalized block of each endpoint, unless a caller has just done so. An endpoint that lags is avoided within
 * two seconds, until it has caught up and been identified again. One with another history is not used, and one with old
 * state is avoided.
 */
export function startComparing(endpoints: RpcEndpoints, log: Log): AsyncDisposable {
  const askers = new Map(endpoints.all.map((one) => [one, askerOf(endpoints, one)]))
  const askOne: AskOne = (of, call) => askers.get(of)!(call)
  const loops = endpoints.all.map((endpoint): Loop => {
    let wasBehind = false
    let restsUntil = 0
    let historyAt = 0
    const work = async () => {
      if (steadyClock() < restsUntil) return
      // Outages are reported by callers, who notice them too.
      try {
        const isCompared = await compare(endpoints, endpoint, { askOne, withHistory: steadyClock() >= historyAt })
        if (isCompared) historyAt = steadyClock() + historyEveryMs
      } catch {
        restsUntil = steadyClock() + closedMs
      }
      const isBehind = endpoints.isBehind(endpoint)
      if (isBehind === wasBehind) return
      wasBehind = isBehind
      if (isBehind) return log.warn({ endpoint: endpoint.host }, 'rpc endpoint is behind, avoided')
      endpoint.isOurs = undefined
      log.info({ endpoint: endpoint.host }, 'rpc endpoint caught up')
    }
    return startLoop({ name: `comparing ${endpoint.host}`, everyMs, log, work })
  })
  return {
    [Symbol.asyncDispose]: async () => {
      await Promise.all(loops.map((loop) => loop[Symbol.asyncDispose]()))
    },
  }
}

type AskOne = (of: RpcEndpoint, call: RpcCall) => Promise<unknown>

async function compare(
  endpoints: RpcEndpoints,
  endpoint: RpcEndpoint,
  { askOne, withHistory }: { askOne: AskOne; withHistory: boolean },
): Promise<boolean> {
  const ask = (call: RpcCall) => askOne(endpoint, call)
  await endpoints.identify(endpoint, ask)
  const isCompared = withHistory && (await endpoints.compareHistory(endpoint, ask))
  // A node may not have executed the block yet, or have no state of it any more.
  if (isCompared) await endpoints.compareState(endpoint, askOne).catch(() => {})
  if (steadyClock() - (endpoints.comparedAt(endpoint) ?? 0) < everyMs) return isCompared
  await ask(finalized)
  return isCompared
}

const askerOf = (endpoints: RpcEndpoints, endpoint: RpcEndpoint) =>
  openAsker({
    endpoints: onlyOf(endpoints, endpoint),
    timeoutMs: deadlineMs,
    batches: false,
    waitsForRate: false,
  })
