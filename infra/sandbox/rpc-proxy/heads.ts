import { askNode, type RpcReply, toHex } from './rpc'

/** Heads that a request sees. Blocks above `latest` do not exist. */
export type ProxyHeads = { readonly latest: number; readonly finalized: number }

export async function readHeads(target: string, lagBlocks: number): Promise<ProxyHeads> {
  const [latest, finalized] = await askNode(target, [
    { method: 'eth_blockNumber' },
    { method: 'eth_getBlockByNumber', params: ['finalized', false] },
  ])
  const finalizedNumber = (finalized?.result as { number?: string } | null)?.number
  return {
    latest: Math.max(0, Number(latest?.result ?? 0) - lagBlocks),
    finalized: Math.max(0, Number(finalizedNumber ?? 0) - lagBlocks),
  }
}

export function pin(tag: unknown, heads: ProxyHeads): unknown {
  if (tag === 'finalized') return toHex(heads.finalized)
  if (tag === 'safe') return toHex(Math.min(heads.latest, heads.finalized + 1))
  if (tag === 'latest' || tag === 'pending') return toHex(heads.latest)
  return tag
}

export function isAbove(reply: RpcReply, heads: ProxyHeads): boolean {
  const block = (reply.result as { number?: string; blockNumber?: string } | null) ?? {}
  const number = block.blockNumber ?? block.number
  return typeof number === 'string' && Number(number) > heads.latest
}
