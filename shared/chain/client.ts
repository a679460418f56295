import { createPublicClient, defineChain, fallback, http, type PublicClient } from 'viem'

/** Multicall3 stands at the same address on the test chain and on the local one. */
const multicall3 = { address: '0xcA11bde05977b3631167028862bE2a173976CA11' } as const

export const chainOf = (chainId: number) =>
  defineChain({
    id: chainId,
    name: `chain ${chainId}`,
    nativeCurrency: { name: 'MON', symbol: 'MON', decimals: 18 },
    rpcUrls: { default: { http: [] } },
    contracts: { multicall3 },
  })

/**
 * A reading client with no retries of its own: viem would retry -32603, which on Monad is nearly
 * every pool error, and 413. Calls within 2 ms share one
 * multicall of at most 16 KiB of call data.
 */
export const openChainReader = (options: {
  rpcUrls: readonly string[]
  chainId: number
  timeoutMs?: number
}): PublicClient =>
  createPublicClient({
    chain: chainOf(options.chainId),
    transport: fallback(
      options.rpcUrls.map((url) =>
        http(url, { retryCount: 0, timeout: options.timeoutMs ?? 3_000 }),
      ),
      { retryCount: 0 },
    ),
    batch: { multicall: { wait: 2, batchSize: 16_384 } },
    cacheTime: 0,
  })
