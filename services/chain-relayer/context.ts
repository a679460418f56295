import { randomUUID } from 'node:crypto'
import type { Static } from 'typebox'
import type { Copies } from '#shared/bus/copies'
import type { Clock } from '#shared/clock'
import type { Database } from '#shared/db/open'
import { type Log, type LogThrottled, openLogThrottled } from '#shared/log'
import type { ChainAccount } from '#shared/messages/chain'
import type { Contracts, LookUp } from './chain/authorization'
import type { Look } from './chain/look'
import type { Node } from './chain/node'
import type { Pace } from './chain/pace'
import type { LaneKey, TreasuryKey } from './keys/keys'
import type { Policy } from './keys/policy'

/** The ability to read bundles, as copies say it of themselves. */
export const bundles = 'bundles'

/** What the service works with; made in `main.ts`. */
export type Context = {
  readonly database: Database
  readonly node: Node
  readonly contracts: Contracts
  readonly treasury: TreasuryKey
  /** Keys that may be lanes. */
  readonly keys: readonly LaneKey[]
  /** What they sign; each of them holds to it by itself. */
  readonly policy: Policy
  readonly settings: Settings
  /** Tells the time of the database, which the times of rows are from. */
  readonly clock: Clock
  readonly log: Log
  /** For what fails in every round: a line every 10 s. */
  readonly logThrottled: LogThrottled
  /** Reads a wallet at the newest block; whoever asks while one is read shares the next call. */
  readonly account: (wallet: `0x${string}`) => Promise<Account>
  /** Resolves when it is time to ask the chain: whoever waits for the same moment shares a call. */
  readonly gather: () => Promise<void>
  /** The copies of this service, among which the lanes are shared. */
  readonly copies: Pick<Copies, 'count' | 'poke'>
  /** All copies judge each transfer of a bundle by itself; one of an earlier version would not. */
  readonly mayBundle: () => boolean
  /** Names this process in the leases; no other process ever has the same name. */
  readonly holder: string
  readonly memory: Memory
  /** Called after a commit that announced something: the outbox is sent at once. */
  readonly poke: () => void
  /** Called after an operation was stored: the next round begins at once. */
  readonly wake: () => void
}

export type Settings = {
  readonly chainId: number
  readonly dripWei: bigint
  readonly dripBelowWei: bigint
  readonly laneFloorWei: bigint
  readonly laneRefillWei: bigint
  readonly gasBudgetWei: bigint
  readonly baseFeeCapWei: bigint
  readonly transfersLagBlocks: bigint
  readonly oldestAlarmMs: number
  readonly pollMs: number
  readonly rebroadcastAfterMs: number
  readonly bumpAfterMs: number
  readonly batchMax: number
}

export type Account = Static<(typeof ChainAccount)['answer']>

/** What one process remembers; all of it may be lost at any time. */
export type Memory = {
  /** Hashes this process has broadcast: what an earlier one stored is sent again at once. */
  readonly sent: Set<string>
  /** How a lane was last found to agree with the chain: the epoch, and its next nonce since. */
  readonly sound: Map<string, { readonly epoch: number; readonly nextNonce: number }>
  /** Since when a lane beyond its share is seen to be held by nobody, by address. */
  readonly freeSince: Map<string, number>
  /** Until then it keeps more lanes than its share: no other copy had taken them. */
  moreUntil: number
  /** When it was last searched for who used a nonce, by lane and nonce. */
  readonly searchedAt: Map<string, number>
  /** What is searched for in logs, by operation. */
  readonly lookUps: Map<string, LookUp>
  /** The last look at the chain. */
  look: Look | undefined
  /** The newest final block whose receipts were read; undefined: those of the lanes' counts are next. */
  readTo: bigint | undefined
  /** When a lane's transactions were last counted at finality, and under which epoch of its lease. */
  readonly countedAt: Map<string, { readonly epoch: number; readonly at: number }>
  /** How the newest block moves; undefined before the first look. */
  pace: Pace | undefined
}

/** What a process starts with: a name of its own and an empty memory. */
export const newProcess = (
  log: Log,
  clock: Clock,
): Pick<Context, 'holder' | 'memory' | 'logThrottled'> => ({
  holder: randomUUID(),
  memory: {
    ...{ sent: new Set(), sound: new Map(), searchedAt: new Map(), lookUps: new Map() },
    ...{ freeSince: new Map(), moreUntil: 0, pace: undefined },
    ...{ look: undefined, readTo: undefined, countedAt: new Map() },
  },
  logThrottled: openLogThrottled(log, clock),
})
