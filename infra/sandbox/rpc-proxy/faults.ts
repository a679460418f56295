/** The words of Monad's transaction pool; all of them come with code -32603. */
export const poolWords = [
  'Transaction nonce too low',
  'Transaction fee too low',
  'Signer had insufficient balance',
  'Transaction pool is full',
  'An existing transaction had higher priority',
  'A newer transaction had higher priority',
  'Gas limit too low',
  'Transaction pool is not ready',
  'overloaded, try again later',
  'rejected',
  'rpc no longer tracking tx',
] as const
export type PoolWord = (typeof poolWords)[number]

/** How the endpoint behaves. Rates are 0 to 1; the first four are Monad's everyday manners. */
export type RpcFaults = {
  /** `pending` means `latest`, so a pool nonce cannot be asked for. */
  readonly pendingIsLatest: boolean
  /** A transaction is not found by hash, and has no receipt, before it is in a block. */
  readonly hideUnincluded: boolean
  /** Blocks between `fromBlock` and `toBlock` at most; 0 for no limit. */
  readonly logsRangeMax: number
  /** HTTP status of the refusal: 200, or 413 as one public endpoint answers. */
  readonly logsRangeStatus: number

  /** A send is refused with `poolWord`; nothing is forwarded. */
  readonly poolErrorRate: number
  readonly poolWord: PoolWord
  /** A refused send is remembered: the same bytes get the same refusal for ever. */
  readonly stickyRefusals: boolean
  /** The hash is answered, nothing is forwarded. */
  readonly swallowSendRate: number
  /** The hash is answered, the transaction is forwarded `delaySendMs` later. */
  readonly delaySendRate: number
  readonly delaySendMs: number
  /** The transaction is forwarded, the connection then hangs without an answer. */
  readonly timeoutAfterAcceptRate: number

  /** After a receipt was seen once, it is null for this many reads. */
  readonly vanishReceiptReads: number
  /** Every head (latest, safe, finalized) is this far behind, and later blocks do not exist. */
  readonly headLagBlocks: number
  /** With this rate a request meets a node that is `headBackBlocks` further behind. */
  readonly headBackRate: number
  readonly headBackBlocks: number
  /** `eth_getLogs` alone meets a node that is so far behind, and clamps without a word. */
  readonly logsClampBlocks: number
  /** Each log is left out with this rate. */
  readonly partialLogsRate: number
  /** Each log is left out the first so many times it is read. */
  readonly lateLogsReads: number

  readonly tooManyRequestsRate: number
  /** More calls within a second, each of a batch counted, get 429; 0 for no limit. */
  readonly requestsPerSecondMax: number
  /** The same for `eth_call` and `eth_estimateGas` alone. */
  readonly ethCallsPerSecondMax: number
  /** False: a batch is refused, as by endpoints that allow none. */
  readonly takesBatches: boolean
  /** The connection is cut before anything is forwarded. */
  readonly disconnectRate: number
  /** Nothing is forwarded and nothing is answered. */
  readonly hangRate: number
  readonly delayMs: number
  /** Choices follow this seed; null makes them random. */
  readonly seed: number | null
}

/** Monad on a good day. */
export const monad: RpcFaults = {
  pendingIsLatest: true,
  hideUnincluded: true,
  logsRangeMax: 100,
  logsRangeStatus: 200,
  poolErrorRate: 0,
  poolWord: 'Transaction pool is full',
  stickyRefusals: true,
  swallowSendRate: 0,
  delaySendRate: 0,
  delaySendMs: 2_000,
  timeoutAfterAcceptRate: 0,
  vanishReceiptReads: 0,
  headLagBlocks: 0,
  headBackRate: 0,
  headBackBlocks: 5,
  logsClampBlocks: 0,
  partialLogsRate: 0,
  lateLogsReads: 0,
  tooManyRequestsRate: 0,
  requestsPerSecondMax: 0,
  ethCallsPerSecondMax: 0,
  takesBatches: true,
  disconnectRate: 0,
  hangRate: 0,
  delayMs: 0,
  seed: null,
}

/**
 * Lays the named faults over those in force; an empty object ends all of them. Says what is wrong
 * instead, and then nothing changes.
 */
export function changeFaults(
  current: RpcFaults,
  change: Record<string, unknown>,
): { faults: RpcFaults } | { wrong: string[] } {
  if (Object.keys(change).length === 0) return { faults: monad }
  const wrong = Object.entries(change).flatMap(([name, value]) => wrongWith(name, value))
  return wrong.length > 0 ? { wrong } : { faults: { ...current, ...change } }
}

function wrongWith(name: string, value: unknown): string[] {
  if (!Object.hasOwn(monad, name)) return [`${name} is not a fault`]
  if (name === 'seed') {
    return value === null || Number.isSafeInteger(value) ? [] : ['seed must be an integer or null']
  }
  if (name === 'poolWord') {
    return poolWords.some((word) => word === value)
      ? []
      : ["poolWord must be one of the pool's words"]
  }
  const kind = typeof monad[name as keyof RpcFaults]
  if (typeof value !== kind) return [`${name} must be a ${kind}`]
  if (kind === 'boolean') return []
  const limit = name.endsWith('Rate') ? 1 : 1_000_000
  const fits = (value as number) >= 0 && (value as number) <= limit
  return fits ? [] : [`${name} must be from 0 to ${limit}`]
}
