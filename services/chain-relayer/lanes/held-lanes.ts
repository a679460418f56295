import { ageMs } from '#platform/clock'
import { pause } from '#platform/deadline'
import { haltedMs } from '../chain/head-progress'
import type { Context } from '../context'
import type { LaneKey } from '../keys/keys'
import {
  findLanes,
  findOpen,
  insertLane,
  type KnownLane,
  type KnownLanes,
  type Lane,
  leaseLanes,
  type OpenTransaction,
  recordFault,
  releaseLanes,
  renewAfterMs,
  renewLanes,
} from './lane.store'

type LeasedLane = {
  /** Undefined if the key was replaced while transactions of the lane were open. */
  readonly key: LaneKey | undefined
  readonly lane: Lane
}
type OwnLane = LeasedLane & { readonly key: LaneKey }
type ByAddress = ReadonlyMap<string, KnownLane>

export type HeldLane = LeasedLane & {
  /** True if our record agrees with the chain and we have the key; only then does the lane assign nonces. */
  readonly sound: boolean
  /** Open transactions by nonce. The steps of a round keep them up to date. */
  readonly open: OpenTransaction[]
}

export const addressesOf = (held: readonly LeasedLane[]): `0x${string}`[] => held.map(({ lane }) => lane.address)

/** Renews the leases of this instance and reads the lanes. */
export const readLanes = ({ database, holder }: Context): Promise<KnownLanes> =>
  database.run((db) => renewLanes(db, holder))

/**
 * Leases lanes beside those that are held. While the chain is ahead of one lane, no lane is sound: the database was probably
 * restored from a backup, so any lane may already have executed the waiting operations, and nothing on the chain
 * prevents a second drip. `read` are the lanes if they were just read.
 */
export async function holdLanes(context: Context, read?: KnownLanes): Promise<HeldLane[]> {
  const { database, keys } = context
  const { lanes, open } = read ?? (await readLanes(context))
  const known = new Map(lanes.map((one) => [one.address, one]))
  const leased = [...(await leaseShare(context, known)), ...(await leaseRetired(context, known))]
  const isNew = ({ lane: { address, epoch } }: LeasedLane) => known.get(address)?.epoch !== epoch
  const taken = addressesOf(leased.filter(isNew))
  const theirs = taken.length === 0 ? [] : await database.read((db) => findOpen(db, taken))
  const byLane = Map.groupBy([...open, ...theirs], (one) => one.lane)
  const held = await Promise.all(
    leased.map(async ({ key, lane }) => {
      const own = byLane.get(lane.address) ?? []
      const openNonces = new Set(own.map(({ nonce }) => nonce))
      return { key, lane, open: own, sound: key !== undefined && (await isSound(context, lane, openNonces)) }
    }),
  )
  const own = new Set(keys.map(addressOf))
  const hasFault = lanes.some(({ fault }) => fault !== null)
  if (!hasFault && held.every(({ key, sound }) => sound || !key)) return held
  const now = await database.read(findLanes)
  const isAhead = now.some(({ address, fault }) => fault === 'chain_ahead' && own.has(address))
  // guard: while one lane is behind the chain, no lane gives out a nonce
  return isAhead ? held.map((one) => ({ ...one, sound: false })) : held
}

/**
 * Renews the leases until it is disposed of. The calls of a round to slow endpoints may take longer than a lease, after
 * which no step of the round may write to its lanes.
 */
export function keepLeases({ database, holder }: Context, held: readonly LeasedLane[]): AsyncDisposable {
  const end = new AbortController()
  const keep = async () => {
    for (;;) {
      await pause(renewAfterMs, end.signal)
      if (end.signal.aborted) return
      await leaseLanes(database, addressesOf(held), holder).catch(() => {})
    }
  }
  const kept = keep()
  return {
    [Symbol.asyncDispose]: async () => {
      end.abort()
      await kept
    },
  }
}

/**
 * Leases lanes whose keys were replaced while they had open transactions. What was signed is still sent and ended, because
 * the chain may execute it at any time. Then the lane is released, because another instance may still have its key.
 */
async function leaseRetired({ database, keys, holder }: Context, known: ByAddress): Promise<LeasedLane[]> {
  const own = new Set(keys.map(addressOf))
  const others = [...known.values()].filter(({ address }) => !own.has(address))
  const ended = others.filter((lane) => lane.holder === holder && !lane.isBusy).map(({ address }) => address)
  if (ended.length > 0) await releaseLanes(database, holder, ended)
  const retired = others.filter(({ isBusy }) => isBusy)
  const held = retired.filter((lane) => lane.holder === holder && lane.isFresh)
  const free = retired.filter((lane) => lane.holder !== holder && lane.isFree).map(({ address }) => address)
  const taken = free.length === 0 ? [] : await leaseLanes(database, free, holder)
  return [...held, ...taken].map((lane) => ({ key: undefined, lane }))
}

/** How long a lane must be free before an instance may lease it beyond its share, in ms. */
const freeMaxMs = 3_000
const moreForMs = 60_000

export const shareOf = (lanes: number, copies: number): number => Math.ceil(lanes / copies)

async function leaseShare(context: Context, known: ByAddress): Promise<OwnLane[]> {
  const { database, keys, holder, copies, memory, clock, log } = context
  const lanes = keys.map((key) => ({ key, lane: known.get(addressOf(key)) }))
  const isOurs = ({ lane }: { lane: KnownLane | undefined }) => lane?.holder === holder
  const share = shareOf(lanes.length, copies.count())
  const ours = lanes.filter(isOurs)
  const kept = clock() < memory.moreUntil ? ours : ours.slice(0, share)
  const given = ours.filter((one) => !kept.includes(one)).map(({ key }) => addressOf(key))
  if (given.length > 0) {
    await releaseLanes(database, holder, given)
    log.info({ lanes: given }, 'lanes released to another instance')
  }

  // A lease that was not renewed was lost while the lanes were read.
  const leased = kept.flatMap(({ key, lane }) => (lane?.isFresh ? [{ key, lane: lane as Lane }] : []))
  for (const { key, lane } of lanes.filter((one) => !isOurs(one))) {
    const address = addressOf(key)
    if (!mayTake(context, address, { isFree: lane?.isFree ?? true, hasRoom: leased.length < share })) continue
    if (!lane && !(await openLane(context, key))) continue
    for (const taken of await leaseLanes(database, [address], holder)) leased.push({ key, lane: taken })
  }
  return leased
}

function mayTake(
  { copies, memory, clock }: Context,
  address: string,
  { isFree, hasRoom }: { isFree: boolean; hasRoom: boolean },
): boolean {
  if (!isFree || hasRoom) {
    memory.freeSince.delete(address)
    return isFree
  }
  copies.poke()
  const since = memory.freeSince.get(address) ?? clock()
  memory.freeSince.set(address, since)
  if (ageMs(since, clock()) < freeMaxMs) return false
  memory.moreUntil = clock() + moreForMs
  return true
}

const addressOf = ({ address }: LaneKey) => address.toLowerCase() as `0x${string}`

/**
 * Returns how many transactions of a lane are on the chain, or undefined while that is unknown. While an endpoint does not
 * respond, the others are not known to lag, so their newest block must be recent. If the chain itself stands still, no
 * lane is needed.
 */
async function countOnChain(
  { node, clock, logThrottled }: Context,
  address: `0x${string}`,
): Promise<number | undefined> {
  try {
    const { count, isComplete } = await node.highestCount(address)
    if (isComplete) return count
    const { timestamp, number } = await node.newestHead()
    const oldMs = clock() - Number(timestamp) * 1_000
    // guard: a lane is not opened or leased by an old block
    if (oldMs <= haltedMs) return count
    const fields = { blockNumber: String(number), oldMs }
    logThrottled.alarm('old', fields, 'newest block is old, lanes wait: check RPC_URLS and the clock')
  } catch {}
  return undefined
}

async function openLane(context: Context, key: LaneKey): Promise<boolean> {
  const { database, log } = context
  const address = addressOf(key)
  const chainCount = await countOnChain(context, address)
  if (chainCount === undefined) return false
  await insertLane(database, address, chainCount)
  log.info({ lane: address, nextNonce: chainCount }, 'lane opened')
  return true
}

/**
 * Compares our record with the chain once per lease, and again whenever the nonce goes back. Open transactions of an
 * unsound lane continue.
 */
async function isSound(context: Context, lane: Lane, openNonces: ReadonlySet<number>): Promise<boolean> {
  const { database, memory, holder } = context
  const { epoch, nextNonce } = memory.sound.get(lane.address) ?? { epoch: -1, nextNonce: 0 }
  // A nonce that went back means that a backup was restored while this process was running.
  if (epoch === lane.epoch && nextNonce <= lane.nextNonce && lane.fault === null) {
    memory.sound.set(lane.address, lane)
    return true
  }
  const chainCount = await countOnChain(context, lane.address)
  if (chainCount === undefined) return false
  const fault = laneFault({ nextNonce: lane.nextNonce, chainCount, openNonces })
  // If the lease was lost, its new holder makes its own check.
  if (fault !== lane.fault && !(await recordFault(database, lane, holder, fault))) return false
  if (fault === null) {
    memory.sound.set(lane.address, lane)
    return true
  }
  const fields = { lane: lane.address, fault, advice: faultAdvice[fault], chainCount, nextNonce: lane.nextNonce }
  context.logThrottled.alarm(`lane:${lane.address}`, fields, 'lane is blocked')
  return false
}

export type LaneFault = 'chain_ahead' | 'nonce_missing'

/**
 * Returns the fault of a lane, or null. `chain_ahead`: the key sent a transaction that has no row (restored backup,
 * another program). `nonce_missing`: a nonce is neither mined nor open, so no later one can be mined (another chain).
 */
export function laneFault(lane: {
  nextNonce: number
  chainCount: number
  openNonces: ReadonlySet<number>
}): LaneFault | null {
  // guard: a lane whose nonce on the chain is ahead of its rows gives out no nonce
  if (lane.chainCount > lane.nextNonce) return 'chain_ahead'
  for (let nonce = lane.chainCount; nonce < lane.nextNonce; nonce++)
    if (!lane.openNonces.has(nonce)) return 'nonce_missing'
  return null
}

const faultAdvice: { readonly [F in LaneFault]: string } = {
  chain_ahead: 'the key sent transactions that are not in the database; restore them (runbook: Restore)',
  nonce_missing: 'transactions that were final are gone from the chain; check RPC_URLS',
}
