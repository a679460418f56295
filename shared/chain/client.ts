import { createPublicClient, createTransport, defineChain, type PublicClient } from 'viem'
import { openAsker } from '#shared/chain/asker'
import type { RpcEndpoints } from '#shared/chain/endpoints'
import type { Urgency } from '#shared/chain/methods'

/** Address of Multicall3, which is the same on every public chain and on the local one. */
export const multicall3 = '0xcA11bde05977b3631167028862bE2a173976CA11' as const

export const chainOf = (chainId: number) =>
  defineChain({
    id: chainId,
    name: `chain ${chainId}`,
    nativeCurrency: { name: 'MON', symbol: 'MON', decimals: 18 },
    rpcUrls: { default: { http: [] } },
    contracts: { multicall3: { address: multicall3 } },
  })

/**
 * Opens a viem client without retries, since viem would repeat -32603 (on Monad nearly every pool error) and 413. If the
 * chain is known, calls within 2 ms share a multicall of at most 16 KiB.
 */
export function openChainReader(options: {
  endpoints: RpcEndpoints
  chainId?: number
  timeoutMs?: number
  batches?: boolean
  urgency?: Urgency | undefined
  waitsForRate?: boolean
}): PublicClient {
  const { endpoints, chainId, timeoutMs = 3_000, batches = false, urgency, waitsForRate = true } = options
  const ask = openAsker({ endpoints, timeoutMs, batches, urgency, waitsForRate })
  return createPublicClient({
    transport: () =>
      createTransport({
        key: 'endpoints',
        name: 'RPC endpoints',
        type: 'endpoints',
        retryCount: 0,
        request: ((call: Parameters<typeof ask>[0]) => ask(call)) as never,
      }),
    cacheTime: 0,
    ...(chainId === undefined ? {} : { chain: chainOf(chainId), batch: { multicall: { wait: 2, batchSize: 16_384 } } }),
  })
}
