import type { PrivateKeyAccount } from 'viem'
import { faultAdvice, laneFault } from './lane'
import { findLane, insertLane, type Lane, leaseLane, noteFault } from './lane.store'
import { complain, type HeldLane, type Relayer } from './relayer'
import { findOpen, type OpenTransaction } from './transaction.store'

/** Long enough for a slow round, short enough that a killed process is soon replaced. */
const leaseMs = 5_000

/** Leases every lane that is free, and reads what each has under way. */
export async function holdLanes(relayer: Relayer): Promise<HeldLane[]> {
  const leased: { key: PrivateKeyAccount; lane: Lane }[] = []
  for (const key of relayer.keys) {
    const lane = await lease(relayer, key)
    if (lane) leased.push({ key, lane })
  }
  const open = await readOpen(relayer, leased)
  return Promise.all(
    leased.map(async ({ key, lane }) => {
      const own = open.filter((transaction) => transaction.lane === lane.address)
      return { key, lane, open: own, sound: await isSound(relayer, lane, own) }
    }),
  )
}

/** The same lanes after more was assigned to them. */
export async function reread(relayer: Relayer, held: readonly HeldLane[]): Promise<HeldLane[]> {
  const open = await readOpen(relayer, held)
  return held.map((one) => ({
    ...one,
    open: open.filter((transaction) => transaction.lane === one.lane.address),
  }))
}

const readOpen = (relayer: Relayer, held: readonly { lane: Lane }[]): Promise<OpenTransaction[]> =>
  relayer.database.read((db) =>
    findOpen(
      db,
      held.map(({ lane }) => lane.address),
    ),
  )

async function lease(relayer: Relayer, key: PrivateKeyAccount): Promise<Lane | undefined> {
  const { database, holder, node } = relayer
  const address = key.address.toLowerCase() as `0x${string}`
  const lane = await leaseLane(database, address, holder, leaseMs)
  if (lane || (await findLane(database, address))) return lane
  const chainCount = await node.countAt(address, 'latest').catch(() => undefined)
  if (chainCount === undefined) return undefined
  await insertLane(database, address, chainCount)
  relayer.log.info({ lane: address, nextNonce: chainCount }, 'lane opened')
  return leaseLane(database, address, holder, leaseMs)
}

/**
 * Once per lease: does our record agree with the chain? A lane that does not gives out no nonces
 * until it does, while what it has under way goes on.
 */
async function isSound(relayer: Relayer, lane: Lane, open: readonly OpenTransaction[]) {
  const { database, memory, node } = relayer
  if (memory.soundEpochs.get(lane.address) === lane.epoch) return true
  const chainCount = await node.countAt(lane.address, 'latest').catch(() => undefined)
  if (chainCount === undefined) return false
  const openNonces = new Set(open.map(({ nonce }) => nonce))
  const fault = laneFault({ nextNonce: lane.nextNonce, chainCount, openNonces })
  if (fault !== lane.fault) await noteFault(database, lane.address, fault)
  if (fault === null) {
    memory.soundEpochs.set(lane.address, lane.epoch)
    return true
  }
  const fields = { lane: lane.address, fault, chainCount, nextNonce: lane.nextNonce, alarm: true }
  complain(relayer, `lane:${lane.address}`, fields, `lane is blocked: ${faultAdvice[fault]}`)
  return false
}
