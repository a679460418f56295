import type { RpcFaults } from './faults'
import type { RpcAsk } from './rpc'

type Limits = Pick<RpcFaults, 'requestsPerSecondMax' | 'ethCallsPerSecondMax'>

export type Quota = { readonly admits: (asks: readonly RpcAsk[], limits: Limits) => boolean }

const windowMs = 1_000
const apart: ReadonlySet<string> = new Set(['eth_call', 'eth_estimateGas'])

/** Counts the calls of the last second, also those in a batch, except refused ones. */
export function openQuota(now: () => number = Date.now): Quota {
  let admitted: { at: number; apart: boolean }[] = []
  return {
    admits: (asks, { requestsPerSecondMax, ethCallsPerSecondMax }) => {
      admitted = admitted.filter(({ at }) => at > now() - windowMs)
      const next = asks.map(({ method }) => ({ at: now(), apart: apart.has(method) }))
      const all = [...admitted, ...next]
      const ethCalls = all.filter((one) => one.apart).length
      const tooMany = requestsPerSecondMax > 0 && all.length > requestsPerSecondMax
      const tooManyCalls = ethCallsPerSecondMax > 0 && next.some((one) => one.apart) && ethCalls > ethCallsPerSecondMax
      if (tooMany || tooManyCalls) return false
      admitted = all
      return true
    },
  }
}
