import type { Hex } from 'viem'

export type RpcAsk = { jsonrpc?: string; id?: unknown; method: string; params?: unknown[] }
export type RpcReply = {
  jsonrpc: '2.0'
  id: unknown
  result?: unknown
  error?: { code: number; message: string; data?: unknown }
}

export const replyTo = (ask: RpcAsk, result: unknown): RpcReply => ({
  jsonrpc: '2.0',
  id: ask.id ?? null,
  result,
})
export const refuseTo = (ask: RpcAsk, code: number, message: string): RpcReply => ({
  jsonrpc: '2.0',
  id: ask.id ?? null,
  error: { code, message },
})

export const toHex = (block: number): Hex => `0x${Math.max(0, block).toString(16)}`

export async function askNode(target: string, asks: readonly RpcAsk[]): Promise<RpcReply[]> {
  if (asks.length === 0) return []
  const numbered = asks.map((ask, id) => ({
    jsonrpc: '2.0',
    id,
    method: ask.method,
    params: ask.params ?? [],
  }))
  const response = await fetch(target, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(numbered),
    signal: AbortSignal.timeout(20_000),
  })
  const replies = (await response.json()) as RpcReply[]
  const byId = new Map(replies.map((reply) => [reply.id, reply]))
  return asks.map((ask, id) => ({ ...byId.get(id)!, id: ask.id ?? null }))
}
