import { findBatches, startFindingBatches } from '#shared/chain/batches'
import { openRpcEndpoints, type RpcEndpoints } from '#shared/chain/endpoints'
import type { Log } from '#shared/log'

/**
 * Opens the configured endpoints and probes their batch support, which takes two seconds at most.
 */
export async function openServiceEndpoints(
  config: {
    rpcUrls: readonly string[]
    rpcRequestsPerSecond: number
    rpcEthCallsPerSecond: number
  },
  { log }: { log: Log },
): Promise<RpcEndpoints & AsyncDisposable> {
  const { rpcUrls, rpcRequestsPerSecond, rpcEthCallsPerSecond } = config
  const endpoints = openRpcEndpoints({
    rpcUrls,
    log,
    budget: { requestsPerSecond: rpcRequestsPerSecond, ethCallsPerSecond: rpcEthCallsPerSecond },
  })
  const [only, another] = endpoints.all
  if (only && !another) log.warn({ endpoint: only.host }, 'RPC_URLS has one endpoint: no failover')
  await findBatches(endpoints, log)
  const finding = startFindingBatches(endpoints, log)
  return { ...endpoints, [Symbol.asyncDispose]: () => finding[Symbol.asyncDispose]() }
}
