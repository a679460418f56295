import { BaseError, createPublicClient, fallback, type Hex, http, type PublicClient } from 'viem'
import { pause } from '#platform/deadline'
import { chainOf } from '#shared/chain/client'
import type { ChainFacts } from './facts'

const timeoutMs = 10_000

/** Node of the deployment. viem's own retries are off, because the deployment decides when to retry. */
export type DeployNode = {
  readonly chain: ChainFacts
  readonly reader: PublicClient
  /** Sends to every endpoint. Returns null if one accepted the transaction, else the last error message. */
  readonly sendRaw: (raw: Hex) => Promise<string | null>
  readonly tell: (method: string, params: readonly unknown[]) => Promise<void>
}

export async function openNode(rpcUrls: readonly string[], withinMs: number): Promise<DeployNode> {
  const reader = readerAt(rpcUrls)
  const request = reader.request as (ask: { method: string; params: unknown[] }) => Promise<unknown>
  const givesUpAt = performance.now() + withinMs
  for (;;) {
    try {
      const chain = await identify(reader)
      const tell = async (method: string, params: readonly unknown[]) => {
        await request({ method, params: [...params] })
      }
      return { chain, reader, sendRaw: senderTo(rpcUrls), tell }
    } catch (error) {
      if (performance.now() > givesUpAt) throw new Error(`no endpoint in RPC_URLS responds: ${textOf(error)}`)
      await pause(300)
    }
  }
}

export const withMulticall = (node: DeployNode, rpcUrls: readonly string[]): DeployNode => ({
  ...node,
  reader: readerAt(rpcUrls, node.chain.chainId),
})

const readerAt = (rpcUrls: readonly string[], batchesOn?: number): PublicClient =>
  createPublicClient({
    transport: fallback(
      rpcUrls.map((url) => http(url, { retryCount: 0, timeout: timeoutMs })),
      { retryCount: 0 },
    ),
    cacheTime: 0,
    ...(batchesOn === undefined ? {} : { chain: chainOf(batchesOn), batch: { multicall: { wait: 2 } } }),
  })

async function identify(reader: PublicClient): Promise<ChainFacts> {
  const [chainId, genesis, version] = await Promise.all([
    reader.getChainId(),
    reader.getBlock({ blockNumber: 0n }),
    reader.request({ method: 'web3_clientVersion' }).catch(() => ''),
  ])
  return { chainId, genesisHash: genesis.hash, isAnvil: version.startsWith('anvil/') }
}

function senderTo(rpcUrls: readonly string[]): DeployNode['sendRaw'] {
  const endpoints = rpcUrls.map((url) =>
    createPublicClient({ transport: http(url, { retryCount: 0, timeout: timeoutMs }) }),
  )
  return async (raw) => {
    const answers = await Promise.all(
      endpoints.map((endpoint) => endpoint.sendRawTransaction({ serializedTransaction: raw }).then(() => null, textOf)),
    )
    return answers.includes(null) ? null : (answers.at(-1) ?? null)
  }
}

/** Returns the node's message without viem's wrapping, which repeats the URL and the request. */
export function textOf(error: unknown): string {
  if (error instanceof BaseError) return error.details || error.shortMessage
  return error instanceof Error ? error.message : String(error)
}
