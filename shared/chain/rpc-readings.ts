import type { RpcFigures } from '#shared/chain/endpoints'
import { each, gauge, type Reading, total } from '#shared/metrics/readings'

/** What was asked of the endpoints of the chain, by host, and for each block. */
export const rpcReadings = ({ perBlock, endpoints }: RpcFigures): Reading[] => {
  const perEndpoint = (
    read: (of: (typeof endpoints)[string], labels: Reading['labels']) => Reading,
  ) => each(endpoints, 'endpoint', read)
  return [
    ...perEndpoint(({ requests }, labels) =>
      total('rpc_requests', 'Requests to an endpoint, each of a batch.', requests, labels),
    ),
    ...perEndpoint(({ ethCalls }, labels) =>
      total('rpc_eth_calls', 'Of them eth_call.', ethCalls, labels),
    ),
    ...perEndpoint(({ tooMany }, labels) =>
      total(
        'rpc_refused_as_too_many',
        'How often it said that it is asked too often.',
        tooMany,
        labels,
      ),
    ),
    ...perEndpoint(({ waited }, labels) =>
      total('rpc_waited', 'Requests that waited for room in the budget.', waited, labels),
    ),
    ...perEndpoint(({ batches }, labels) =>
      gauge('rpc_takes_batches', 'Whether it answers batches; absent: not known.', batches, labels),
    ),
    ...each(perBlock, 'of', (count, labels) =>
      gauge('rpc_per_block', 'Asked for each block of the chain, lately.', count, {
        of: perBlockNames.get(labels.of!) ?? labels.of!,
      }),
    ),
  ]
}

const perBlockNames = new Map([['ethCalls', 'eth_calls']])
