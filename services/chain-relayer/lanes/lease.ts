import type { Context } from '../context'
import type { LaneKey } from '../keys/keys'
import {
  findLanes,
  findOpen,
  insertLane,
  type KnownLane,
  type Lane,
  leaseLanes,
  noteFault,
  type OpenTransaction,
  releaseLanes,
} from './lane.store'

/** A lane this process holds, and the key that signs for it. */
type LeasedLane = { readonly key: LaneKey; readonly lane: Lane }
type Known = ReadonlyMap<string, KnownLane>

/** The same, with its open transactions. */
export type HeldLane = LeasedLane & {
  /** Our record agrees with the chain: it may give out nonces. */
  readonly sound: boolean
  readonly open: readonly OpenTransaction[]
}

/** Their addresses, in lower case as in the rows. */
export const addressesOf = (held: readonly LeasedLane[]): `0x${string}`[] =>
  held.map(({ lane }) => lane.address)

/**
 * Leases this copy's part of the lanes, and reads what each has under way. While the chain is ahead
 * of one lane, none is sound: most likely the rows are older than the chain, and then what they
 * order may have been done by any lane. Nothing on the chain refuses a second drip.
 */
export async function holdLanes(context: Context): Promise<HeldLane[]> {
  const { database, keys } = context
  const read = async () =>
    new Map((await database.read(findLanes)).map((one) => [one.address, one]))
  const known = await read()
  const leased = await leaseShare(context, known)
  const isQuiet = leased.every(({ lane: { address, epoch } }) => {
    const before = known.get(address)
    return before && !before.isBusy && before.epoch === epoch
  })
  const withTheirs = isQuiet
    ? leased.map((one) => ({ ...one, open: [] }))
    : await withOpen(context, leased)
  const checked = await Promise.all(
    withTheirs.map(async (one) => {
      const openNonces = new Set(one.open.map(({ nonce }) => nonce))
      return { ...one, sound: await isSound(context, one.lane, openNonces) }
    }),
  )
  const own = new Set(keys.map(({ address }) => address.toLowerCase()))
  const hasFault = [...known.values()].some(({ fault }) => fault !== null)
  if (!hasFault && checked.every(({ sound }) => sound)) return checked
  const isAhead = [...(await read()).values()].some(
    ({ address, fault }) => fault === 'chain_ahead' && own.has(address),
  )
  return isAhead ? checked.map((one) => ({ ...one, sound: false })) : checked
}

/** The same lanes with what they have under way now. */
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

/** A copy with room for a lane takes it sooner: one that stays free for so long is taken by any. */
const freeMaxMs = 3_000
/** So long a copy keeps what it took beyond its share; by then the others may take lanes again. */
const moreForMs = 60_000

/** How many lanes are one copy's: the last ones go to whoever is first. */
export const shareOf = (lanes: number, copies: number): number => Math.ceil(lanes / copies)

/**
 * Renews the leases this copy has, up to its share of all lanes, and takes free lanes until it has
 * as many. A copy that left in order gave its lanes up, a dead one's lapse; either way the others
 * count the copies anew, and share what is free.
 */
async function leaseShare(context: Context, known: Known): Promise<LeasedLane[]> {
  const { database, keys, holder, copies, memory, clock } = context
  const lanes = keys.map((key) => ({ key, lane: known.get(addressOf(key)) }))
  const isOurs = ({ lane }: { lane: KnownLane | undefined }) => lane?.holder === holder
  const share = shareOf(lanes.length, copies.count())
  const ours = lanes.filter(isOurs)
  const kept = clock() < memory.moreUntil ? ours : ours.slice(0, share)
  const given = ours.filter((one) => !kept.includes(one))
  if (given.length > 0)
    await giveUp(
      context,
      given.map(({ key }) => addressOf(key)),
    )

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

  /** By one statement, whatever their number. */
  async function lease(some: readonly { key: LaneKey }[]): Promise<LeasedLane[]> {
    if (some.length === 0) return []
    const addresses = some.map(({ key }) => addressOf(key))
    const got = await leaseLanes(database, addresses, holder)
    return some.flatMap(({ key }) =>
      got.filter(({ address }) => address === addressOf(key)).map((lane) => ({ key, lane })),
    )
  }
}

/**
 * A free lane: within this copy's share at once, beyond it when nobody else takes it for a while.
 */
function mayTake(
  { copies, memory, clock }: Context,
  address: string,
  { isFree, hasRoom }: { isFree: boolean; hasRoom: boolean },
): boolean {
  if (!isFree || hasRoom) {
    memory.freeSince.delete(address)
    return isFree
  }
  copies.poke() // Perhaps there are fewer by now.
  const since = memory.freeSince.get(address) ?? clock()
  memory.freeSince.set(address, since)
  if (clock() - since < freeMaxMs) return false
  memory.moreUntil = clock() + moreForMs
  return true
}

async function giveUp({ database, holder, log }: Context, lanes: readonly `0x${string}`[]) {
  await releaseLanes(database, holder, lanes)
  log.info({ lanes }, 'lanes released to another instance')
}

const addressOf = ({ address }: LaneKey) => address.toLowerCase() as `0x${string}`

/** A lane that was never used here begins at the chain's count. False while that cannot be had. */
async function openLane({ database, node, log }: Context, key: LaneKey): Promise<boolean> {
  const address = addressOf(key)
  const chainCount = await node.countAt(address, 'latest').catch(() => undefined)
  if (chainCount === undefined) return false
  await insertLane(database, address, chainCount)
  log.info({ lane: address, nextNonce: chainCount }, 'lane opened')
  return true
}

/**
 * Once per lease, and whenever its nonce goes back: does our record agree with the chain? A lane
 * that does not gives out no nonces until it does, while what it has under way goes on.
 */
async function isSound(
  context: Context,
  lane: Lane,
  openNonces: ReadonlySet<number>,
): Promise<boolean> {
  const { database, memory, node, holder } = context
  const { epoch, nextNonce } = memory.sound.get(lane.address) ?? { epoch: -1, nextNonce: 0 }
  // A nonce that goes back: the rows were restored from a backup under this very process.
  if (epoch === lane.epoch && nextNonce <= lane.nextNonce && lane.fault === null) {
    memory.sound.set(lane.address, lane)
    return true
  }
  const chainCount = await node.countAt(lane.address, 'latest').catch(() => undefined)
  if (chainCount === undefined) return false
  const fault = laneFault({ nextNonce: lane.nextNonce, chainCount, openNonces })
  // A copy that stood still may have compared what another holds by now: that one finds its own.
  if (fault !== lane.fault && !(await noteFault(database, lane, holder, fault))) return false
  if (fault === null) {
    memory.sound.set(lane.address, lane)
    return true
  }
  const fields = { lane: lane.address, fault, chainCount, nextNonce: lane.nextNonce, alarm: true }
  context.logThrottled(`lane:${lane.address}`, fields, `lane is blocked: ${faultAdvice[fault]}`)
  return false
}

/** Why a lane must not give out nonces. */
export type LaneFault = 'chain_ahead' | 'nonce_missing'

/**
 * Compares the durable record with the chain's count at `latest`. `chain_ahead`: this key sent
 * something we have no row of (a restored backup, another program). `nonce_missing`: a nonce we
 * gave out is neither mined nor open, so nothing after it would ever be mined (another chain).
 */
export function laneFault(lane: {
  nextNonce: number
  chainCount: number
  openNonces: ReadonlySet<number>
}): LaneFault | null {
  if (lane.chainCount > lane.nextNonce) return 'chain_ahead'
  for (let nonce = lane.chainCount; nonce < lane.nextNonce; nonce++)
    if (!lane.openNonces.has(nonce)) return 'nonce_missing'
  return null
}

const faultAdvice: { readonly [F in LaneFault]: string } = {
  chain_ahead:
    'the key sent transactions that are not in the database; restore them (runbook: Restore)',
  nonce_missing: 'transactions that were final are gone from the chain; check RPC_URLS',
}
