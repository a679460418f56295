import type { Address } from 'viem'
import type { Clock } from '#shared/clock'
import { afterRefusal, afterSuccess, type Range, startRange } from './range.ts'
import { rpcBatch } from './rpc.ts'
import { AnotherChain, RpcFault } from './rpc-fault.ts'
import { readFinalized, readSpan, type Span } from './span.ts'

/** What we know of one JSON-RPC endpoint. `host` may be shown: the path may hold a key. */
export type Endpoint = {
  readonly url: string
  readonly host: string
  readonly range: () => Range
  /** As far as it was finalized when it last said so. */
  readonly finalized: () => number
  readonly restsUntilMs: () => number
  readonly rest: (ms: number) => void
  /** Its genesis hash; throws `RpcFault` if it is another chain or has no such contract. */
  readonly identify: () => Promise<string>
  readonly readFinalized: () => Promise<number>
  /** Reads and learns from the outcome how many blocks to ask for. */
  readonly readSpan: (from: number, to: number) => Promise<Span>
}

export type ChainIdentity = { chainId: number; genesisHash: string; contract: Address }

const deadlineMs = 4_000
/** A range that takes longer than this is too wide, whatever the endpoint thinks of it. */
const spanDeadlineMs = 8_000

export function openEndpoint(
  url: string,
  identity: ChainIdentity,
  rangeMax: number,
  clock: Clock,
): Endpoint {
  let range = startRange(rangeMax)
  let finalized = -1
  let restsUntilMs = 0
  let genesis: string | null = null
  return {
    url,
    host: new URL(url).host,
    range: () => range,
    finalized: () => finalized,
    restsUntilMs: () => restsUntilMs,
    rest: (ms) => {
      restsUntilMs = clock() + ms
    },
    identify: async () => {
      genesis ??= await identify(url, identity)
      return genesis
    },
    readFinalized: async () => {
      finalized = await readFinalized(url, deadlineMs)
      return finalized
    },
    readSpan: async (from, to) => {
      try {
        const span = await readSpan({ url, contract: identity.contract }, from, to, spanDeadlineMs)
        finalized = span.finalized
        range = afterSuccess(range, span.events.length, clock())
        return span
      } catch (error) {
        const fault = error as RpcFault
        if (fault.kind === 'range' || fault.kind === 'late') {
          range = afterRefusal(range, to - from + 1, fault, clock())
        }
        throw error
      }
    },
  }
}

/** Asks one endpoint for its genesis hash; throws `AnotherChain`, or `RpcFault` if it is away. */
export async function identify(url: string, identity: ChainIdentity): Promise<string> {
  const calls = [
    { method: 'eth_chainId', params: [] },
    { method: 'eth_getBlockByNumber', params: ['0x0', false] },
    { method: 'eth_getCode', params: [identity.contract, 'latest'] },
  ]
  const [chainId, genesis, code] = (await rpcBatch(url, calls, deadlineMs)) as [
    string,
    { hash?: string } | null,
    string,
  ]
  if (Number(chainId) !== identity.chainId) {
    throw new AnotherChain(`its id is ${Number(chainId)}, not ${identity.chainId}`)
  }
  if (!genesis?.hash) throw new RpcFault('broken', 'the endpoint has no block 0')
  if (identity.genesisHash !== 'unchecked' && genesis.hash !== identity.genesisHash) {
    throw new AnotherChain(`its block 0 is ${genesis.hash}, not ${identity.genesisHash}`)
  }
  if (code === '0x') throw new AnotherChain(`there is no contract at ${identity.contract}`)
  return genesis.hash
}
