import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Static } from 'typebox'
import type { InstanceCount } from '#platform/bus/instances'
import type { Clock } from '#platform/clock'
import type { Database } from '#platform/db/open'
import { type Log, type LogThrottled, openLogThrottled } from '#platform/log'
import type { ChainAccount } from '#shared/messages/chain'
import type { Contracts, LookUp } from './chain/authorization'
import type { ChainSnapshot } from './chain/chain-snapshot'
import type { ContractSignature } from './chain/contract-signature'
import type { HeadProgress } from './chain/head-progress'
import type { Head, Node } from './chain/node'
import type { LaneKey, TreasuryKey } from './keys/keys'
import type { Policy } from './keys/policy'
import type { Operation } from './operations/operation.table'

export type Context = {
  readonly database: Database
  readonly node: Node
  readonly contracts: Contracts
  readonly treasury: TreasuryKey
  readonly keys: readonly LaneKey[]
  readonly policy: Policy
  readonly settings: Settings
  /** Clock of the database, so that times compare with those in rows. */
  readonly clock: Clock
  readonly log: Log
  readonly logThrottled: LogThrottled
  /** Reads an account at the newest block; concurrent requests share a call. */
  readonly account: (wallet: `0x${string}`) => Promise<AccountAnswer>
  readonly readTurn: () => Promise<void>
  /** Verifies a contract wallet's signature for a caller who is not signed in yet. */
  readonly isAccepted: (asked: ContractSignature) => Promise<boolean>
  readonly copies: Pick<InstanceCount, 'count' | 'poke'>
  /** Id of this process in the leases. */
  readonly holder: string
  readonly memory: Memory
  readonly poke: () => void
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

export type AccountAnswer = Static<(typeof ChainAccount)['answer']>

/**
 * Progress of a lane, where `to` is the final block up to which everything is concluded, or undefined if something is
 * not.
 */
export type Counted = {
  readonly epoch: number
  readonly at: number
  readonly to: bigint | undefined
}

/** Broadcasts of an attempt by this process: how many, when the last was, and its error if no node accepted it. */
export type Broadcasts = { readonly count: number; readonly at: number; readonly error: string | null }

/** State of this process, any of which may be lost at any time. */
export type Memory = {
  /** Attempts that this process has sent, by hash. It resends all other stored attempts at once. */
  readonly sent: Map<string, Broadcasts>
  /** Operations of transactions that this process stored and has not concluded, by lane and nonce. */
  readonly carried: LRUCache<string, readonly Operation[]>
  /** The last agreement of each lane with the chain. */
  readonly sound: Map<string, { readonly epoch: number; readonly nextNonce: number }>
  /** Since when lanes beyond this instance's share have been free, in Unix ms. */
  readonly freeSince: Map<string, number>
  /** Until when this instance keeps surplus lanes, in Unix ms. */
  moreUntil: number
  /** Time of the last search for the use of a nonce, by lane and nonce. */
  readonly searchedAt: Map<string, number>
  /** Searches for the use of authorizations, by operation. */
  readonly lookUps: Map<string, LookUp>
  snapshot: ChainSnapshot | undefined
  /** Progress of conclusions, by lane. */
  readonly counted: Map<string, Counted>
  readonly ancestors: Map<bigint, Promise<Head>>
  pace: HeadProgress | undefined
  /** Time of the last search for old signed transfers, in Unix ms. */
  undecidedAt: number
}

/** Returns the key of a nonce in the memory of this process. */
export const nonceKey = (lane: string, nonce: number): string => `${lane}:${nonce}`

/** More transactions than the lanes of an instance have open; those of a lost lane leave with time. */
const carriedMax = 200

export const newProcess = (log: Log, clock: Clock): Pick<Context, 'holder' | 'memory' | 'logThrottled'> => ({
  holder: randomUUID(),
  memory: {
    sent: new Map(),
    carried: new LRUCache({ max: carriedMax }),
    sound: new Map(),
    searchedAt: new Map(),
    lookUps: new Map(),
    freeSince: new Map(),
    moreUntil: 0,
    pace: undefined,
    undecidedAt: 0,
    snapshot: undefined,
    counted: new Map(),
    ancestors: new Map(),
  },
  logThrottled: openLogThrottled(log, clock),
})
