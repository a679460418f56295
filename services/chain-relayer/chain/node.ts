import {
  BaseError,
  formatTransactionReceipt,
  type Hex,
  numberToHex,
  type PublicClient,
  type RpcLog,
  type RpcTransactionReceipt,
} from 'viem'
import { openAsker } from '#shared/chain/asker'
import { openChainReader } from '#shared/chain/client'
import type { RpcEndpoints } from '#shared/chain/endpoints'
import { isRevertData } from '#shared/chain/error-meaning'
import type { BlockSpan } from '#shared/chain/halves'
import { type LogFilter, logsIn } from '#shared/chain/logs'
import type { Urgency } from '#shared/chain/methods'
import { errorTextOf } from './errors'

export type Head = {
  readonly number: bigint
  readonly hash: Hex
  readonly timestamp: bigint
  readonly baseFeeWei: bigint
  readonly parentHash: Hex
}
export type CallOutcome = { returned: Hex } | { reverted: Hex | undefined }
export type CallRequest = {
  from?: Hex
  to: Hex
  data: Hex
  value?: bigint
  gas: bigint
  /** Fees of the simulated call. Without them gas is free, which a contract can detect. */
  fees?: { readonly maxFeeWei: bigint; readonly priorityWei: bigint }
}
export type ChainReceipt = Awaited<ReturnType<PublicClient['getTransactionReceipt']>>

/** Access to the chain. Every method throws if no endpoint responds, which leaves the outcome unknown. */
export type Node = {
  readonly reader: PublicClient
  readonly finalizedHead: () => Promise<Head>
  readonly headAt: (blockNumber: bigint) => Promise<Head>
  readonly countAt: (address: Hex, block: bigint | 'latest') => Promise<number>
  /**
   * Returns the highest number of transactions that any endpoint reports, because the state of one of them may lag, and
   * whether every one that is not known to lag has responded.
   */
  readonly highestCount: (address: Hex, block?: bigint) => Promise<{ count: number; isComplete: boolean }>
  /**
   * Returns undefined if the endpoint has no receipt, which proves nothing because it may lag. With `accepts`, endpoints
   * are asked until one has a receipt that it accepts.
   */
  readonly receiptOf: (
    hash: Hex,
    accepts?: (receipt: ChainReceipt) => Promise<boolean>,
  ) => Promise<ChainReceipt | undefined>
  readonly newestHead: () => Promise<Head>
  readonly endpointCount: number
  /** Reads logs, with the endpoint of this index first. One may omit some for good, and nothing in its answer shows that. */
  readonly logsOf: (filter: LogFilter, blocks: BlockSpan, first: number) => Promise<RpcLog[]>
  readonly call: (request: CallRequest, block: bigint | 'latest') => Promise<CallOutcome>
  /** Broadcasts a raw transaction. Returns null, or the error of the last endpoint tried. */
  readonly sendRaw: (raw: Hex, round: number) => Promise<string | null>
}

const roundTimeoutMs = 3_000
const questionMs = 1_500

type Chain = { endpoints: RpcEndpoints; chainId: number }

/** Opens a node for requests with a deadline, which is divided so that every endpoint gets a turn. */
export const openNodeForQuestions = (chain: Chain, urgency?: Urgency): Node =>
  open(chain, Math.floor(questionMs / chain.endpoints.all.length), false, urgency)

export const openNode = (chain: Chain, timeoutMs = roundTimeoutMs): Node => open(chain, timeoutMs, true)

function open({ endpoints, chainId }: Chain, timeoutMs: number, batches: boolean, urgency?: Urgency): Node {
  const reader = openChainReader({ endpoints, chainId, timeoutMs, batches, urgency })
  const ask = openAsker({ endpoints, timeoutMs, batches, urgency })
  const head = (block: Awaited<ReturnType<typeof reader.getBlock>>): Head => {
    const { number, hash, parentHash, timestamp, baseFeePerGas } = block
    if (number === null || hash === null) throw new Error('block has no number or hash yet')
    const baseFeeWei = baseFeePerGas ?? 0n
    return { number, hash, parentHash, timestamp, baseFeeWei }
  }
  return {
    reader,
    finalizedHead: async () => head(await reader.getBlock({ blockTag: 'finalized' })),
    headAt: async (blockNumber) => head(await reader.getBlock({ blockNumber })),
    countAt: (address, block) =>
      reader.getTransactionCount(block === 'latest' ? { address, blockTag: block } : { address, blockNumber: block }),
    highestCount: async (address, block) => {
      const at = block === undefined ? 'latest' : numberToHex(block)
      const call = { method: 'eth_getTransactionCount', params: [address, at] }
      const fit = endpoints.fitFor(call, endpoints.all)
      const asked = fit.map((one) => ask(call, { first: endpoints.all.indexOf(one), only: true }))
      const counts = (await Promise.allSettled(asked)).filter((one) => one.status === 'fulfilled')
      if (counts.length === 0) await asked[0]
      return { count: Math.max(...counts.map(({ value }) => Number(value))), isComplete: counts.length === fit.length }
    },
    receiptOf: async (hash, accepts) => {
      const read = (found: unknown) =>
        found === null ? undefined : formatTransactionReceipt(found as RpcTransactionReceipt)
      const isRight = async (found: unknown) => {
        const receipt = read(found)
        return receipt !== undefined && accepts!(receipt)
      }
      const call = { method: 'eth_getTransactionReceipt', params: [hash] }
      return read(await ask(call, accepts && { accepts: isRight }))
    },
    newestHead: async () => head(await reader.getBlock({ blockTag: 'latest' })),
    endpointCount: endpoints.all.length,
    logsOf: (filter, blocks, first) => {
      const request = ((call: Parameters<typeof ask>[0]) => ask(call, { first })) as PublicClient['request']
      return logsIn({ request }, filter, blocks)
    },
    call: (request, block) => call(reader, request, block),
    sendRaw: (raw, round) =>
      ask({ method: 'eth_sendRawTransaction', params: [raw] }, { first: round })
        .then(() => null)
        .catch(errorTextOf),
  }
}

async function call(reader: PublicClient, request: CallRequest, block: bigint | 'latest'): Promise<CallOutcome> {
  const { from, to, data, value, gas, fees } = request
  const fields = {
    to,
    data,
    gas: numberToHex(gas),
    ...(from && { from }),
    ...(value && { value: numberToHex(value) }),
    ...(fees && {
      maxFeePerGas: numberToHex(fees.maxFeeWei),
      maxPriorityFeePerGas: numberToHex(fees.priorityWei),
    }),
  }
  try {
    const at = block === 'latest' ? block : numberToHex(block)
    return { returned: await reader.request({ method: 'eth_call', params: [fields, at] }) }
  } catch (error) {
    const revert = revertIn(error)
    if (revert) return revert
    throw error
  }
}

/** Returns the revert data of an error, if it is a revert. Nodes use different error codes (anvil: `OutOfGas`). */
function revertIn(error: unknown): { reverted: Hex | undefined } | undefined {
  if (!(error instanceof BaseError)) return undefined
  const bearer = error.walk((one) => isRevertData((one as { data?: unknown }).data))
  if (bearer) return { reverted: (bearer as unknown as { data: Hex }).data }
  return /revert|out ?of ?gas/i.test(error.details ?? '') ? { reverted: undefined } : undefined
}
