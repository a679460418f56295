import { each, gauge, type Metric, total } from '#platform/metrics/metric'
import type { RpcFigures } from '#shared/chain/endpoints'

export const rpcReadings = ({ perBlock, endpoints }: RpcFigures): Metric[] => {
  const perEndpoint = (read: (of: (typeof endpoints)[string], labels: Metric['labels']) => Metric) =>
    each(endpoints, 'endpoint', read)
  return [
    ...perEndpoint(({ requests }, labels) =>
      total('rpc_requests', 'RPC requests, each call of a batch counted.', requests, labels),
    ),
    ...perEndpoint(({ ethCalls }, labels) =>
      total('rpc_eth_calls', 'RPC requests that are eth_call or eth_estimateGas.', ethCalls, labels),
    ),
    ...perEndpoint(({ tooMany }, labels) =>
      total('rpc_rate_limited', 'Rate limit responses of the endpoint.', tooMany, labels),
    ),
    ...perEndpoint(({ waited }, labels) =>
      total('rpc_waited', 'RPC requests that waited for the budget.', waited, labels),
    ),
    ...perEndpoint(({ batches }, labels) =>
      gauge('rpc_takes_batches', '1 if the endpoint supports batches, 0 if not; absent if unknown.', batches, labels),
    ),
    ...each(perBlock, 'of', (count, labels) =>
      gauge('rpc_per_block', 'Recent RPC requests per block of the chain.', count, {
        of: perBlockNames.get(labels.of!) ?? labels.of!,
      }),
    ),
  ]
}

const perBlockNames = new Map([['ethCalls', 'eth_calls']])
