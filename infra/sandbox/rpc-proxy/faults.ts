/** Errors of Monad's transaction pool, which all have the code -32603. */
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

/** Faults of the proxy. Rates are 0 to 1. The first four are Monad's normal behaviour. */
export type RpcFaults = {
  /** True if `pending` means `latest`, so that the nonce in the pool cannot be read. */
  readonly pendingIsLatest: boolean
  /** True if a transaction and its receipt are hidden until it is in a block. */
  readonly hideUnincluded: boolean
  /** Maximum of `toBlock` less `fromBlock`; 0 for no limit. */
  readonly logsRangeMax: number
  /** HTTP status of that refusal, which is 413 at one public endpoint. */
  readonly logsRangeStatus: number
  /** Maximum number of logs in a response for more than one block; 0 for no limit. */
  readonly logsResultsMax: number

  /** Rate of sends that are refused with `poolWord` and not forwarded. */
  readonly poolErrorRate: number
  readonly poolWord: PoolWord
  /** True if the same bytes are refused permanently. */
  readonly stickyRefusals: boolean
  /** Rate of sends that get their hash but are not forwarded. */
  readonly swallowSendRate: number
  /** Rate of sends that get their hash and are forwarded `delaySendMs` later. */
  readonly delaySendRate: number
  readonly delaySendMs: number
  readonly timeoutAfterAcceptRate: number

  /** Number of reads that return null after a receipt was first returned. */
  readonly vanishReceiptReads: number
  /** Lag of every head (latest, safe, finalized). Later blocks do not exist. */
  readonly headLagBlocks: number
  readonly headStandsStill: boolean
  readonly finalizedIsNull: boolean
  /** Rate of receipts that name another block, as of a discarded one. */
  readonly discardedBlockRate: number
  readonly otherGenesis: boolean
  /** Rate of requests that reach a node `headBackBlocks` further behind. */
  readonly headBackRate: number
  readonly headBackBlocks: number
  /** Lag of the node that serves `eth_getLogs`, which clamps the range silently. */
  readonly logsClampBlocks: number
  readonly partialLogsRate: number
  /** Number of first reads that omit each log. */
  readonly lateLogsReads: number

  readonly tooManyRequestsRate: number
  /** Calls per second before a 429, also in a batch; 0 for no limit. */
  readonly requestsPerSecondMax: number
  /** Maximum of `eth_call` and `eth_estimateGas` per second. */
  readonly ethCallsPerSecondMax: number
  readonly takesBatches: boolean
  /** Rate of requests whose connection is closed without forwarding. */
  readonly disconnectRate: number
  /** Rate of requests that are neither forwarded nor answered. */
  readonly hangRate: number
  readonly delayMs: number
  readonly seed: number | null
}

/** Behaviour of Monad without faults. */
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

/** Merges a change of faults. `{}` ends all faults. */
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
