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

/** Wrong answers, as public endpoints have given them: a result, or an error with its code and words. */
export const wrongAnswers = {
  null: { result: null },
  '0x': { result: '0x' },
  'an empty list': { result: [] },
  'an empty object': { result: {} },
  'nothing at all': {},
  'a web page': 'page',
  silence: 'hang',
  'internal error': { error: { code: -32603, message: 'Internal error' } },
  'timed out': { error: { code: -32603, message: 'request failed or timed out' } },
  'request timeout': { error: { code: 30, message: 'Request timeout on the free tier, please upgrade' } },
  'missing block': { error: { code: -32602, message: 'Block requested not found' } },
  'invalid params': { error: { code: -32602, message: 'invalid params' } },
  'limit exceeded': { error: { code: -32005, message: 'limit exceeded' } },
  'too many requests': { error: { code: -32000, message: 'Too Many Requests' } },
  overloaded: { error: { code: -32603, message: 'overloaded, try again later' } },
  'range too large': { error: { code: -32602, message: 'block range too large' } },
  'method not found': { error: { code: -32601, message: 'Method not found' } },
} as const
export type WrongAnswer = keyof typeof wrongAnswers

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

  /** Method whose calls all get `wrongAnswer`; empty for none. */
  readonly wrongMethod: string
  readonly wrongAnswer: WrongAnswer

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
  wrongMethod: '',
  wrongAnswer: 'null',
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
  if (name === 'wrongAnswer') {
    return Object.hasOwn(wrongAnswers, String(value)) ? [] : ['wrongAnswer must be one of the wrong answers']
  }
  const kind = typeof monad[name as keyof RpcFaults]
  if (typeof value !== kind) return [`${name} must be a ${kind}`]
  if (kind === 'boolean' || kind === 'string') return []
  const limit = name.endsWith('Rate') ? 1 : 1_000_000
  const fits = (value as number) >= 0 && (value as number) <= limit
  return fits ? [] : [`${name} must be from 0 to ${limit}`]
}
