import { ageMs } from '#platform/clock'
import { haltedMs } from '../chain/head-progress'
import type { Context } from '../context'
import type { LaneKey } from '../keys/keys'
import {
  findLanes,
  findOpen,
  insertLane,
  type KnownLane,
  type Lane,
  leaseLanes,
  type OpenTransaction,
  recordFault,
  releaseLanes,
} from './lane.store'

type LeasedLane = {
  /** Undefined if the key was replaced while transactions of the lane were open. */
  readonly key: LaneKey | undefined
  readonly lane: Lane
}
type OwnLane = LeasedLane & { readonly key: LaneKey }
type KnownLanes = ReadonlyMap<string, KnownLane>

export type HeldLane = LeasedLane & {
  /** True if our record agrees with the chain and we have the key; only then does the lane assign nonces. */
  readonly sound: boolean
  readonly open: readonly OpenTransaction[]
}

export const addressesOf = (held: readonly LeasedLane[]): `0x${string}`[] => held.map(({ lane }) => lane.address)

/**
 * Leases lanes and reads them. While the chain is ahead of one lane, no lane is sound: the database was probably
 * restored from a backup, so any lane may already have executed the waiting operations, and nothing on the chain
 * prevents a second drip. `given` are the lanes if they were just read.
 */
export async function holdLanes(context: Context, given?: readonly KnownLane[]): Promise<HeldLane[]> {
  const { database, keys } = context
  const read = () => database.read(findLanes)
  const known = new Map((given ?? (await read())).map((one) => [one.address, one]))
  const leased = await leaseShare(context, known)
  const isQuiet = leased.every(({ lane: { address, epoch } }) => {
    const before = known.get(address)
    return before && !before.isBusy && before.epoch === epoch
  })
  const withTheirs = isQuiet ? leased.map((one) => ({ ...one, open: [] })) : await withOpen(context, leased)
  const retired = await holdRetired(context, known)
  const checked = await Promise.all(
    withTheirs.map(async (one) => {
      const openNonces = new Set(one.open.map(({ nonce }) => nonce))
      return { ...one, sound: await isSound(context, one.lane, openNonces) }
    }),
  )
  const all = [...checked, ...retired]
  const own = new Set(keys.map(addressOf))
  const hasFault = [...known.values()].some(({ fault }) => fault !== null)
  if (!hasFault && checked.every(({ sound }) => sound)) return all
  const isAhead = (await read()).some(({ address, fault }) => fault === 'chain_ahead' && own.has(address))
  // guard: while one lane is behind the chain, no lane gives out a nonce
  return isAhead ? all.map((one) => ({ ...one, sound: false })) : all
}

/**
 * Leases lanes whose keys were replaced while they had open transactions. What was signed is still sent and ended, because
 * the chain may execute it at any time.
 */
async function holdRetired(context: Context, known: KnownLanes): Promise<HeldLane[]> {
  const { database, keys, holder } = context
  const own = new Set(keys.map(addressOf))
  const mayHold = (lane: KnownLane) => !own.has(lane.address) && lane.isBusy && (lane.holder === holder || lane.isFree)
  const retired = [...known.values()].filter(mayHold)
  if (retired.length === 0) return []
  const stale = retired.filter((lane) => lane.holder !== holder || !lane.isFresh).map(({ address }) => address)
  const got = stale.length === 0 ? [] : await leaseLanes(database, stale, holder)
  const leased = [...retired.filter(({ address }) => !stale.includes(address)), ...got]
  const held = leased.map((lane) => ({ key: undefined, lane, sound: false }))
  return withOpen(context, held)
}

export async function withOpen<L extends LeasedLane>(
  { database }: Context,
  held: readonly L[],
): Promise<(L & { open: OpenTransaction[] })[]> {
  const open = await database.read((db) => findOpen(db, addressesOf(held)))
  return held.map((one) => ({
    ...one,
    open: open.filter((transaction) => transaction.lane === one.lane.address),
  }))
}

/** How long a lane must be free before an instance may lease it beyond its share, in ms. */
const freeMaxMs = 3_000
const moreForMs = 60_000

export const shareOf = (lanes: number, copies: number): number => Math.ceil(lanes / copies)

async function leaseShare(context: Context, known: KnownLanes): Promise<OwnLane[]> {
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

  const fresh = kept.flatMap(({ key, lane }) => (lane?.isFresh ? [{ key, lane }] : []))
  const stale = kept.filter(({ lane }) => !lane?.isFresh)
  const leased = [...fresh, ...(await lease(stale))]
  for (const one of lanes.filter((lane) => !isOurs(lane))) {
    const isFree = one.lane?.isFree ?? true
    if (!mayTake(context, addressOf(one.key), { isFree, hasRoom: leased.length < share })) continue
    if (!one.lane && !(await openLane(context, one.key))) continue
    leased.push(...(await lease([one])))
  }
  return leased

  async function lease(some: readonly { key: LaneKey }[]): Promise<OwnLane[]> {
    if (some.length === 0) return []
    const addresses = some.map(({ key }) => addressOf(key))
    const got = await leaseLanes(database, addresses, holder)
    return some.flatMap(({ key }) =>
      got.filter(({ address }) => address === addressOf(key)).map((lane) => ({ key, lane })),
    )
  }
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
