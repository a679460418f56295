import {
  BaseError,
  formatTransactionReceipt,
  type Hex,
  numberToHex,
  type PublicClient,
  type RpcTransactionReceipt,
} from 'viem'
import { openAsker } from '#shared/chain/asker'
import { chainOf, openChainReader } from '#shared/chain/client'
import type { RpcEndpoints } from '#shared/chain/endpoints'
import { textOf } from './errors'

export type Head = {
  readonly number: bigint
  readonly hash: Hex
  readonly timestamp: bigint
  readonly baseFeeWei: bigint
  /** How many transactions are in it. */
  readonly transactions: number
}
/** What a call would do: `reverted` carries the revert data, undefined when there is none. */
export type CallOutcome = { returned: Hex } | { reverted: Hex | undefined }
export type CallRequest = {
  from?: Hex
  to: Hex
  data: Hex
  value?: bigint
  gas: bigint
  /** Left out: the gas is free, which a contract can see. */
  fees?: { readonly maxFeeWei: bigint; readonly priorityWei: bigint }
}
export type Receipt = Awaited<ReturnType<PublicClient['getTransactionReceipt']>>

/** The chain as this service asks it. Everything throws when no endpoint answers: unknown. */
export type Node = {
  readonly reader: PublicClient
  readonly finalizedHead: () => Promise<Head>
  readonly headAt: (blockNumber: bigint) => Promise<Head>
  /** Transactions of the account mined up to that block. */
  readonly countAt: (address: Hex, block: bigint | 'latest') => Promise<number>
  /** Undefined: not (or not any more) known to the endpoint, which proves nothing. */
  readonly receiptOf: (hash: Hex) => Promise<Receipt | undefined>
  /**
   * What these senders have in that block. Throws when the endpoint does not have the receipts of
   * all its transactions, or of another block at that height.
   */
  readonly receiptsIn: (block: Head, senders: ReadonlySet<Hex>) => Promise<Receipt[]>
  readonly newestHead: () => Promise<Head>
  readonly call: (request: CallRequest, block: bigint | 'latest') => Promise<CallOutcome>
  /** Sends stored bytes. The answer is null, or the error text of the last endpoint asked. */
  readonly sendRaw: (raw: Hex, round: number) => Promise<string | null>
}

const roundTimeoutMs = 3_000
const questionMs = 1_500

type Chain = { endpoints: RpcEndpoints; chainId: number }

/**
 * For questions: every endpoint has its turn before whoever asks is told that the chain is silent.
 */
export const openNodeForQuestions = ({ endpoints, chainId }: Chain): Node =>
  open({ endpoints, chainId }, Math.floor(questionMs / endpoints.all.length), false)

/** For rounds, which may wait. What a round asks at once shares a request where that is allowed. */
export const openNode = (chain: Chain, timeoutMs = roundTimeoutMs): Node =>
  open(chain, timeoutMs, true)

/** `timeoutMs` is of one call of one endpoint. */
function open({ endpoints, chainId }: Chain, timeoutMs: number, batches: boolean): Node {
  const reader = openChainReader({ endpoints, chainId, timeoutMs, batches })
  const ask = openAsker({ endpoints, chain: chainOf(chainId), timeoutMs, batches })
  const head = (block: Awaited<ReturnType<typeof reader.getBlock>>): Head => {
    const { number, hash, timestamp, baseFeePerGas, transactions } = block
    if (number === null || hash === null) throw new Error('the block is not sealed')
    const baseFeeWei = baseFeePerGas ?? 0n
    return { number, hash, timestamp, baseFeeWei, transactions: transactions.length }
  }
  return {
    reader,
    finalizedHead: async () => head(await reader.getBlock({ blockTag: 'finalized' })),
    headAt: async (blockNumber) => head(await reader.getBlock({ blockNumber })),
    countAt: (address, block) =>
      reader.getTransactionCount(
        block === 'latest' ? { address, blockTag: block } : { address, blockNumber: block },
      ),
    receiptOf: (hash) => receiptOf(reader, hash),
    receiptsIn: (block, senders) => receiptsIn(reader, block, senders),
    newestHead: async () => head(await reader.getBlock({ blockTag: 'latest' })),
    call: (request, block) => call(reader, request, block),
    sendRaw: (raw, round) =>
      ask(
        { method: 'eth_sendRawTransaction', params: [raw] },
        { first: round, isAnswer: () => false },
      )
        .then(() => null)
        .catch(textOf),
  }
}

async function receiptOf(reader: PublicClient, hash: Hex): Promise<Receipt | undefined> {
  try {
    return await reader.getTransactionReceipt({ hash })
  } catch (error) {
    if (error instanceof BaseError && error.name === 'TransactionReceiptNotFoundError')
      return undefined
    throw error
  }
}

async function receiptsIn(
  reader: PublicClient,
  { number, hash, transactions }: Head,
  senders: ReadonlySet<Hex>,
): Promise<Receipt[]> {
  if (transactions === 0) return []
  const asked = { method: 'eth_getBlockReceipts', params: [numberToHex(number)] }
  const all = (await reader.request(asked as never)) as RpcTransactionReceipt[] | null
  if (all?.length !== transactions || all.some(({ blockHash }) => blockHash !== hash))
    throw new Error(`the receipts of block ${number} are not those of its transactions`)
  return all
    .filter(({ from }) => senders.has(from.toLowerCase() as Hex))
    .map((one) => formatTransactionReceipt(one) as Receipt)
}

async function call(
  reader: PublicClient,
  request: CallRequest,
  block: bigint | 'latest',
): Promise<CallOutcome> {
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

/**
 * Nodes differ in the code of a revert (anvil: `OutOfGas`); its data, or the word, are what they
 * share.
 */
function revertIn(error: unknown): { reverted: Hex | undefined } | undefined {
  if (!(error instanceof BaseError)) return undefined
  const bearer = error.walk((one) => /^0x/.test(String((one as { data?: unknown }).data)))
  if (bearer) return { reverted: (bearer as unknown as { data: Hex }).data }
  return /revert|out ?of ?gas/i.test(error.details ?? '') ? { reverted: undefined } : undefined
}
