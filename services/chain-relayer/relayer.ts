import { randomUUID } from 'node:crypto'
import type { PrivateKeyAccount } from 'viem'
import type { Clock } from '#shared/clock'
import type { Database } from '#shared/db/open'
import type { Log } from '#shared/log'
import type { TokenDomain } from './authorization'
import type { Lane } from './lane.store'
import type { Node } from './node'
import type { OpenTransaction } from './transaction.store'

export type Contracts = {
  readonly ausd: `0x${string}`
  readonly creditLine: `0x${string}`
  readonly domain: TokenDomain
}

export type Settings = {
  readonly chainId: number
  readonly dripWei: bigint
  readonly dripBelowWei: bigint
  readonly laneFloorWei: bigint
  readonly rebroadcastAfterMs: number
  readonly bumpAfterMs: number
  readonly batchMax: number
}

/** What every step works with. */
export type Relayer = {
  readonly database: Database
  readonly node: Node
  readonly contracts: Contracts
  readonly treasury: PrivateKeyAccount
  readonly keys: readonly PrivateKeyAccount[]
  readonly settings: Settings
  readonly clock: Clock
  readonly log: Log
  /** Names this process in the leases; never used again by another one. */
  readonly holder: string
  readonly memory: Memory
  /** Called after a commit that announced something. */
  readonly poke: () => void
}

/** What one process remembers; all of it may be lost at any time. */
export type Memory = {
  /** Hashes broadcast in this life: what a former life stored is sent again at once. */
  readonly sent: Set<string>
  /** The epoch in which a lane was last found sound. */
  readonly soundEpochs: Map<string, number>
  readonly complainedAt: Map<string, number>
}

/** A process as the leases know it, at its beginning. */
export const newLife = (): Pick<Relayer, 'holder' | 'memory'> => ({
  holder: randomUUID(),
  memory: { sent: new Set(), soundEpochs: new Map(), complainedAt: new Map() },
})

/** A lane this process holds, with what it has under way. */
export type HeldLane = {
  readonly key: PrivateKeyAccount
  readonly lane: Lane
  readonly sound: boolean
  readonly open: readonly OpenTransaction[]
}

const complainEveryMs = 10_000

/** Logs a lasting trouble now and then instead of at every round; `alarm` calls a person. */
export function complain(
  relayer: Relayer,
  key: string,
  fields: Record<string, unknown>,
  message: string,
) {
  const { complainedAt } = relayer.memory
  const now = relayer.clock()
  if (now - (complainedAt.get(key) ?? 0) < complainEveryMs) return
  if (complainedAt.size > 1_000) complainedAt.clear()
  complainedAt.set(key, now)
  relayer.log[fields.alarm ? 'error' : 'warn'](fields, message)
}
