/** Error messages of Monad's transaction pool, all with code -32603. */
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

/** Behaviour of the endpoint. Rates are 0 to 1; the first four are Monad's normal behaviour. */
export type RpcFaults = {
  /** Treats `pending` as `latest`, so the nonce in the pool cannot be read. */
  readonly pendingIsLatest: boolean
  /** Hides a transaction and its receipt until it is in a block. */
  readonly hideUnincluded: boolean
  /** Maximum number of blocks between `fromBlock` and `toBlock`; 0 for no limit. */
  readonly logsRangeMax: number
  /** HTTP status of that refusal: 200, or 413 like one public endpoint. */
  readonly logsRangeStatus: number
  /** Maximum number of logs in the answer for more than one block; 0 for no limit. */
  readonly logsResultsMax: number

  /** Refuses a send with `poolWord` and does not forward it. */
  readonly poolErrorRate: number
  readonly poolWord: PoolWord
  /** Refuses the same bytes with the same error permanently. */
  readonly stickyRefusals: boolean
  /** Returns the hash without forwarding the transaction. */
  readonly swallowSendRate: number
  /** Returns the hash and forwards the transaction `delaySendMs` later. */
  readonly delaySendRate: number
  readonly delaySendMs: number
  /** Forwards the transaction, then hangs without a response. */
  readonly timeoutAfterAcceptRate: number

  /** Returns null for this many reads after a receipt was first returned. */
  readonly vanishReceiptReads: number
  /**
   * Number of blocks by which every head (latest, safe, finalized) lags; later blocks do not exist.
   */
  readonly headLagBlocks: number
  /** Every head stands still from now on. */
  readonly headStandsStill: boolean
  /** Returns null for the block `finalized`. */
  readonly finalizedIsNull: boolean
  /** Share of receipts that name another block, as of one that was discarded. */
  readonly discardedBlockRate: number
  /** Serves another block 0 under the same chain id. */
  readonly otherGenesis: boolean
  /** Share of requests that reach a node `headBackBlocks` further behind. */
  readonly headBackRate: number
  readonly headBackBlocks: number
  /** Lag of the node that serves `eth_getLogs`, in blocks; it clamps the range silently. */
  readonly logsClampBlocks: number
  /** Share of logs that are omitted. */
  readonly partialLogsRate: number
  /** Number of reads for which each log is omitted at first. */
  readonly lateLogsReads: number

  readonly tooManyRequestsRate: number
  /**
   * Calls per second, counting each call of a batch, above which 429 is returned; 0 for no limit.
   */
  readonly requestsPerSecondMax: number
  /** The same limit for `eth_call` and `eth_estimateGas`. */
  readonly ethCallsPerSecondMax: number
  /** False: refuses batches, like endpoints that do not support them. */
  readonly takesBatches: boolean
  /** Closes the connection without forwarding the request. */
  readonly disconnectRate: number
  /** Neither forwards the request nor responds. */
  readonly hangRate: number
  readonly delayMs: number
  /** Seed of the random choices; null for real randomness. */
  readonly seed: number | null
}

/** Defaults: Monad without faults. */
export const monad: RpcFaults = {
  pendingIsLatest: true,
  hideUnincluded: true,
  logsRangeMax: 100,
  logsRangeStatus: 200,
  logsResultsMax: 0,
  poolErrorRate: 0,
  poolWord: 'Transaction pool is full',
  stickyRefusals: true,
  swallowSendRate: 0,
  delaySendRate: 0,
  delaySendMs: 2_000,
  timeoutAfterAcceptRate: 0,
  vanishReceiptReads: 0,
  headLagBlocks: 0,
  headStandsStill: false,
  finalizedIsNull: false,
  discardedBlockRate: 0,
  otherGenesis: false,
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
 * Merges the given faults into the active ones; an empty object ends all faults. Returns the errors
 * instead, and changes nothing, if any value is invalid.
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
