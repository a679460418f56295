import { requestSeconds, timer } from '#platform/metrics/measures'

export const rpcCalls = timer({
  what: 'rpc_call_duration',
  help: 'Duration of an RPC call in seconds; a batch counts under the method of its first call.',
  labels: { endpoint: { atMost: 10 }, method: { atMost: 30 }, outcome: ['ok', 'failed'] },
  buckets: requestSeconds,
})
