import { requestSeconds, timer } from '#shared/metrics/measures'

/** Times calls of the endpoints of the chain, by the host of the endpoint and the method. */
export const rpcCalls = timer({
  what: 'rpc_call_duration',
  help: 'Time of a call of an endpoint of the chain; of several at once the first names the method.',
  labels: { endpoint: { atMost: 10 }, method: { atMost: 30 }, outcome: ['ok', 'failed'] },
  buckets: requestSeconds,
})
