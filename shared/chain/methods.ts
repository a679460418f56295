/** Urgencies of calls, the most urgent first. The last one is for calls that strangers cause. */
export const urgencies = ['send', 'finality', 'read', 'sweep', 'stranger'] as const
export type Urgency = (typeof urgencies)[number]

export type RpcCall = { readonly method: string; readonly params?: unknown }

type Params = readonly unknown[]
type Check = (result: unknown, params: Params) => string | undefined

/** What is known of a JSON-RPC method, without which no reply to it can be understood. */
export type Method = {
  readonly urgency: Urgency
  /**
   * True if the method runs the code of a contract. A revert is then the chain's answer, in words that a stranger can
   * choose. Providers limit these calls separately.
   */
  readonly runsCode?: true
  /** True if the method reads a range of blocks. Endpoints refuse a range or a result that is too large for them. */
  readonly hasRange?: true
  /** True if the call is sent outside of batches, because it must not wait for other calls or would delay them. */
  readonly isAlone?: true
  /** True if the answer decides about money by the chain's newest state, so that no endpoint that lags may be asked. */
  readonly needsHead?: true
  /** Returns why no node of the chain can give this result, or undefined if one can. */
  readonly faultIn: Check
  /** Returns true for a result that a node also gives if it lacks what another node has. */
  readonly isDoubtful?: (result: unknown, params: Params) => boolean
}

const isData = (value: unknown): value is string => typeof value === 'string' && /^0x(?:[0-9a-f]{2})*$/i.test(value)
const isQuantity = (value: unknown): value is string => typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value)
export const isHash = (value: unknown): value is `0x${string}` =>
  typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value)
const isSame = (left: unknown, right: unknown) => String(left).toLowerCase() === String(right).toLowerCase()

const quantity: Check = (result) => (isQuantity(result) ? undefined : 'not a quantity')
const data: Check = (result) => (isData(result) ? undefined : 'not hex data')

/** Selector of `aggregate3` of Multicall3, whose argument and result are one list. */
const aggregate3 = '0x82ad56cb'
/** Words of a result that are there for each call: its place, its success, and the place and length of its data. */
const wordsPerCall = 4
const wordIn = (hex: string, at: number): bigint => BigInt(`0x${hex.slice(2 + 64 * at, 2 + 64 * (at + 1)) || '0'}`)

/** Several calls in one get as many results, however a node that lacks state makes one up. */
const callResult: Check = (result, [call]) => {
  if (!isData(result)) return 'not hex data'
  const { data, input = data } = (call ?? {}) as { data?: unknown; input?: unknown }
  if (result === '0x' || typeof input !== 'string' || !input.startsWith(aggregate3)) return undefined
  const asked = wordIn(`0x${input.slice(aggregate3.length)}`, 1)
  const isWhole = BigInt(result.length - 2) >= 64n * (2n + BigInt(wordsPerCall) * asked)
  return isWhole && wordIn(result, 0) === 32n && wordIn(result, 1) === asked ? undefined : `not ${asked} results`
}

type Header = { number?: unknown; hash?: unknown; parentHash?: unknown; timestamp?: unknown; baseFeePerGas?: unknown }
const header: Check = (result, [asked]) => {
  if (result === null) return undefined
  const { number, hash, parentHash, timestamp, baseFeePerGas } = result as Header
  // The first blocks of some chains have none.
  if (!isQuantity(asked) && !isQuantity(baseFeePerGas)) return 'a head without a base fee'
  if (!isQuantity(number) || !isQuantity(timestamp)) return 'a block without number or time'
  if (!isHash(hash) || !isHash(parentHash)) return 'a block without hashes'
  return isQuantity(asked) && BigInt(asked) !== BigInt(number) ? `block ${number} instead of ${asked}` : undefined
}

type Receipt = {
  transactionHash?: unknown
  blockHash?: unknown
  blockNumber?: unknown
  status?: unknown
  logs?: unknown
}
const receipt: Check = (result, [asked]) => {
  if (result === null) return undefined
  const { transactionHash, blockHash, blockNumber, status, logs } = result as Receipt
  if (!isSame(transactionHash, asked)) return 'the receipt of another transaction'
  if (!isHash(blockHash) || !isQuantity(blockNumber)) return 'a receipt without a block'
  if (status !== '0x0' && status !== '0x1') return 'a receipt without an outcome'
  return Array.isArray(logs) ? undefined : 'a receipt without logs'
}

const transaction: Check = (result, [asked]) =>
  result === null || isSame((result as { hash?: unknown }).hash, asked) ? undefined : 'another transaction'

type LogFilter = { fromBlock?: unknown; toBlock?: unknown }
const logs: Check = (result, [filter]) => {
  if (!Array.isArray(result)) return 'not a list of logs'
  const { fromBlock, toBlock } = (filter ?? {}) as LogFilter
  const isOutside = ({ blockNumber }: { blockNumber?: unknown }) =>
    !isQuantity(blockNumber) ||
    (isQuantity(fromBlock) && BigInt(blockNumber) < BigInt(fromBlock)) ||
    (isQuantity(toBlock) && BigInt(blockNumber) > BigInt(toBlock))
  return result.some(isOutside) ? 'logs of blocks that were not asked for' : undefined
}

const methods: Readonly<Record<string, Method>> = {
  eth_chainId: { urgency: 'read', faultIn: quantity },
  eth_getBlockByNumber: { urgency: 'finality', needsHead: true, faultIn: header },
  eth_getTransactionCount: { urgency: 'finality', needsHead: true, faultIn: quantity },
  eth_getTransactionReceipt: { urgency: 'finality', needsHead: true, faultIn: receipt },
  eth_getTransactionByHash: { urgency: 'read', faultIn: transaction },
  eth_getBalance: { urgency: 'read', faultIn: quantity },
  eth_getCode: { urgency: 'read', faultIn: data },
  eth_call: {
    urgency: 'read',
    runsCode: true,
    faultIn: callResult,
    // Only a simulated transaction, which has a sender, may end without a value.
    isDoubtful: (result, [call]) => result === '0x' && (call as { from?: unknown } | undefined)?.from === undefined,
  },
  eth_estimateGas: { urgency: 'read', runsCode: true, faultIn: quantity },
  eth_getLogs: { urgency: 'sweep', hasRange: true, isAlone: true, needsHead: true, faultIn: logs },
  eth_sendRawTransaction: { urgency: 'send', isAlone: true, faultIn: () => undefined },
}

const other: Method = { urgency: 'read', faultIn: () => undefined }

/** Returns what is known of a method. */
export const methodOf = (name: string): Method => (Object.hasOwn(methods, name) ? methods[name]! : other)

const paramsOf = ({ params }: RpcCall): Params => (Array.isArray(params) ? params : [])

/** Returns why no node of the chain can give this result, or undefined if one can. */
export function faultIn(call: RpcCall, result: unknown): string | undefined {
  if (result === undefined) return 'no result'
  return methodOf(call.method).faultIn(result, paramsOf(call))
}

/** Returns true for a result that a node also gives if it lacks what another node has. */
export const isDoubtful = (call: RpcCall, result: unknown): boolean =>
  methodOf(call.method).isDoubtful?.(result, paramsOf(call)) ?? false
