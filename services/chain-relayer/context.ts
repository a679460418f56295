import { randomUUID } from 'node:crypto'
import type { Static } from 'typebox'
import type { Copies } from '#platform/bus/instances'
import type { Clock } from '#platform/clock'
import type { Database } from '#platform/db/open'
import { type Log, type LogThrottled, openLogThrottled } from '#platform/log'
import type { ChainAccount } from '#shared/messages/chain'
import type { Contracts, LookUp } from './chain/authorization'
import type { Look } from './chain/chain-snapshot'
import type { ContractSignature } from './chain/contract-signature'
import type { HeadProgress } from './chain/head-progress'
import type { Head, Node } from './chain/node'
import type { LaneKey, TreasuryKey } from './keys/keys'
import type { Policy } from './keys/policy'

/** Dependencies shared by the whole service; built in `main.ts`. */
export type Context = {
  readonly database: Database
  readonly node: Node
  readonly contracts: Contracts
  readonly treasury: TreasuryKey
  /** Keys that may be used as lanes. */
  readonly keys: readonly LaneKey[]
  /** The signing policy; every key enforces it. */
  readonly policy: Policy
  readonly settings: Settings
  /** The database clock, which also sets the row timestamps. */
  readonly clock: Clock
  readonly log: Log
  /** Logs one line every 10 s per key, for failures that repeat every round. */
  readonly logThrottled: LogThrottled
  /** Reads a wallet at the newest block; concurrent requests share the next call. */
  readonly account: (wallet: `0x${string}`) => Promise<Account>
  /** Resolves when the next chain read is due, so that waiting requests share one call. */
  readonly gather: () => Promise<void>
  /** Verifies a signature of a contract wallet, for callers that are not known yet. */
  readonly isAccepted: (asked: ContractSignature) => Promise<boolean>
  /** The running instances of this service, which share the lanes. */
  readonly copies: Pick<Copies, 'count' | 'poke'>
  /** Unique id of this process in the leases. */
  readonly holder: string
  readonly memory: Memory
  /** Triggers the outbox relay after a commit that queued a message. */
  readonly poke: () => void
  /** Triggers a round after an operation was stored. */
  readonly wake: () => void
}

export type Settings = {
  readonly chainId: number
  readonly dripWei: bigint
  readonly dripBelowWei: bigint
  readonly laneMinBalanceWei: bigint
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

/**
 * Count of a lane's final transactions. `to`: the final block up to which all are concluded;
 * undefined if some were not.
 */
export type Counted = {
  readonly epoch: number
  readonly at: number
  readonly to: bigint | undefined
}

/** In-memory state of one process; all of it may be lost at any time. */
export type Memory = {
  /** Hashes broadcast by this process; attempts stored by an earlier one are resent at once. */
  readonly sent: Set<string>
  /** Epoch and next nonce at which each lane last agreed with the chain, by address. */
  readonly sound: Map<string, { readonly epoch: number; readonly nextNonce: number }>
  /** Since when each lane beyond this instance's share has been free, by address. */
  readonly freeSince: Map<string, number>
  /** Keep surplus lanes until this time; no other instance claimed them. */
  moreUntil: number
  /** When the transaction that used a nonce was last searched for, by lane and nonce. */
  readonly searchedAt: Map<string, number>
  /** Running searches of the token's logs, by operation. */
  readonly lookUps: Map<string, LookUp>
  /** The last chain snapshot. */
  look: Look | undefined
  /** When a lane was last counted, up to which final block, and its lease epoch, by address. */
  readonly counted: Map<string, Counted>
  /** Recent ancestors of the finalized head, by number, some of them still being read. */
  readonly ancestors: Map<bigint, Promise<Head>>
  /** Progress of the chain head; undefined before the first reading. */
  pace: HeadProgress | undefined
}

/** Returns the initial state of a process: a unique id and an empty memory. */
export const newProcess = (
  log: Log,
  clock: Clock,
): Pick<Context, 'holder' | 'memory' | 'logThrottled'> => ({
  holder: randomUUID(),
  memory: {
    ...{ sent: new Set(), sound: new Map(), searchedAt: new Map(), lookUps: new Map() },
    ...{ freeSince: new Map(), moreUntil: 0, pace: undefined },
    ...{ look: undefined, counted: new Map(), ancestors: new Map() },
  },
  logThrottled: openLogThrottled(log, clock),
})
