import type { Context } from '../context'
import { isSound, type LeasedLane, leaseLanes } from '../lanes/lease'
import { findOpen, type OpenTransaction } from './transaction.store'

/** A lane this process holds, with its open transactions. */
export type HeldLane = LeasedLane & {
  /** Our record agrees with the chain: it may give out nonces. */
  readonly sound: boolean
  readonly open: readonly OpenTransaction[]
}

/** Leases every lane that is free, and reads what each has under way. */
export async function holdLanes(context: Context): Promise<HeldLane[]> {
  const leased = await withOpen(context, await leaseLanes(context))
  return Promise.all(
    leased.map(async (one) => {
      const openNonces = new Set(one.open.map(({ nonce }) => nonce))
      return { ...one, sound: await isSound(context, one.lane, openNonces) }
    }),
  )
}

/** The same lanes with what they have under way now. */
export async function withOpen<L extends LeasedLane>(
  { database }: Context,
  held: readonly L[],
): Promise<(L & { open: OpenTransaction[] })[]> {
  const addresses = held.map(({ lane }) => lane.address)
  const open = await database.read((db) => findOpen(db, addresses))
  return held.map((one) => ({
    ...one,
    open: open.filter((transaction) => transaction.lane === one.lane.address),
  }))
}
