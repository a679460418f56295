/** Monad's transaction pool; all have code -32603. */
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
type PoolWord = (typeof poolWords)[number]

/** Rates are 0 to 1. The first four are Monad's normal behaviour. */
export type RpcFaults = {
  /** So the nonce in the pool cannot be read. */
  readonly pendingIsLatest: boolean
  /** Hides a transaction and its receipt until it is in a block. */
  readonly hideUnincluded: boolean
  /** `toBlock` less `fromBlock`; 0 for no limit. */
  readonly logsRangeMax: number
  /** HTTP status of that refusal; one public endpoint has 413. */
  readonly logsRangeStatus: number
  /** Logs in the answer for more than one block; 0 for no limit. */
  readonly logsResultsMax: number

  /** Refuses a send with `poolWord` without forwarding it. */
  readonly poolErrorRate: number
  readonly poolWord: PoolWord
  /** Refuses the same bytes permanently. */
  readonly stickyRefusals: boolean
  /** Returns the hash without forwarding. */
  readonly swallowSendRate: number
  /** Returns the hash and forwards `delaySendMs` later. */
  readonly delaySendRate: number
  readonly delaySendMs: number
  readonly timeoutAfterAcceptRate: number

  /** Returns null for this many reads after a receipt was first returned. */
  readonly vanishReceiptReads: number
  /** Lag of every head (latest, safe, finalized); later blocks do not exist. */
  readonly headLagBlocks: number
  readonly headStandsStill: boolean
  readonly finalizedIsNull: boolean
  /** Share of receipts that name another block, as of a discarded one. */
  readonly discardedBlockRate: number
  readonly otherGenesis: boolean
  /** Share of requests that reach a node `headBackBlocks` further behind. */
  readonly headBackRate: number
  readonly headBackBlocks: number
  /** Lag of the node that serves `eth_getLogs`, which clamps the range silently. */
  readonly logsClampBlocks: number
  readonly partialLogsRate: number
  /** First reads that omit each log. */
  readonly lateLogsReads: number

  readonly tooManyRequestsRate: number
  /** Calls, also of a batch, before a 429; 0 for no limit. */
  readonly requestsPerSecondMax: number
  /** For `eth_call` and `eth_estimateGas`. */
  readonly ethCallsPerSecondMax: number
  readonly takesBatches: boolean
  /** Closes the connection without forwarding. */
  readonly disconnectRate: number
  /** Neither forwards nor responds. */
  readonly hangRate: number
  readonly delayMs: number
  readonly seed: number | null
}

/** Monad without faults. */
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

/** `{}` ends all faults. */
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
    return poolWords.some((word) => word === value) ? [] : ["poolWord must be one of the pool's words"]
  }
  const kind = typeof monad[name as keyof RpcFaults]
  if (typeof value !== kind) return [`${name} must be a ${kind}`]
  if (kind === 'boolean') return []
  const limit = name.endsWith('Rate') ? 1 : 1_000_000
  const fits = (value as number) >= 0 && (value as number) <= limit
  return fits ? [] : [`${name} must be from 0 to ${limit}`]
}
