import type { Log } from '#platform/log'
import { findBatches, startFindingBatches } from '#shared/chain/batches'
import { startComparing } from '#shared/chain/comparing'
import { openRpcEndpoints, type RpcEndpoints } from '#shared/chain/endpoints'
import type { ChainIdentity } from '#shared/chain/identity'

/** Opens the endpoints of a service. Testing their batch support takes two seconds at most. */
export async function openServiceEndpoints(
  config: {
    rpcUrls: readonly string[]
    rpcRequestsPerSecond: number
    rpcEthCallsPerSecond: number
  },
  { log }: { log: Log },
  identity: ChainIdentity,
): Promise<RpcEndpoints & AsyncDisposable> {
  const { rpcUrls, rpcRequestsPerSecond, rpcEthCallsPerSecond } = config
  const endpoints = openRpcEndpoints({
    rpcUrls,
    log,
    identity,
    budget: { requestsPerSecond: rpcRequestsPerSecond, ethCallsPerSecond: rpcEthCallsPerSecond },
  })
  const [only, another] = endpoints.all
  if (only && !another) log.warn({ endpoint: only.host }, 'RPC_URLS has one endpoint: no failover')
  await findBatches(endpoints, log)
  const stack = new AsyncDisposableStack()
  stack.use(startFindingBatches(endpoints, log))
  if (another) stack.use(startComparing(endpoints, log))
  return { ...endpoints, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}
