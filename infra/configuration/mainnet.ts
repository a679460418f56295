import { liveChainId } from '#shared/chain/chain-id'

/** Limits of a public endpoint per caller. The least of them decides, because a variable applies to every endpoint. */
export type PublicEndpoint = {
  readonly url: string
  readonly requestsPerSecond: number
  /** Calls in a batch; 1 if it takes none. */
  readonly batchMax: number
}

/** Source: docs.monad.xyz/developer-essentials/network-information */
export const mainnetEndpoints: readonly PublicEndpoint[] = [
  { url: 'https://rpc.monad.xyz', requestsPerSecond: 25, batchMax: 100 },
  { url: 'https://rpc-mainnet.monadinfra.com', requestsPerSecond: 20, batchMax: 1 },
  { url: 'https://rpc1.monad.xyz', requestsPerSecond: 15, batchMax: 100 },
]

/**
 * Values for Monad's main net that differ from those for the test chain. The relayer and the reader share the address, and
 * operations reads there too, so that both together leave a fifth of the least limit.
 */
export const mainnetValues: ReadonlyMap<string, string> = new Map([
  ['DEPLOYMENT', 'live'],
  ['CHAIN_ID', String(liveChainId)],
  ['RPC_URLS', mainnetEndpoints.map(({ url }) => url).join(',')],
  ['RPC_REQUESTS_PER_SECOND', '6'],
  ['RPC_ETH_CALLS_PER_SECOND', '5'],
])
