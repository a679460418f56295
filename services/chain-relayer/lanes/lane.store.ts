import { and, eq, gt, isNull, lt, or, sql } from 'drizzle-orm'
import { bigint, integer, text } from 'drizzle-orm/pg-core'
import { addressColumn, at, timestamps } from '#shared/db/columns'
import type { Database, Tx } from '#shared/db/open'
import { schema } from '../schema.store'

/** A key that sends. Nonces come from here and from nowhere else: on Monad `pending` is `latest`. */
export const lanes = schema.table('lane', {
  address: addressColumn('address').primaryKey(),
  nextNonce: integer('next_nonce').notNull(),
  holder: text('holder'),
  /** Rises with every new holder: what an earlier holder still tries to write is refused. */
  epoch: bigint('epoch', { mode: 'number' }).notNull().default(0),
  leasedUntil: at('leased_until'),
  /** Why it gives out no nonces, for a person. */
  fault: text('fault'),
  ...timestamps(),
})
export type Lane = typeof lanes.$inferSelect
/** The right to use a lane, proven again in every transaction that writes to it. */
export type Lease = { readonly address: `0x${string}`; readonly epoch: number }

export async function findLane(
  database: Database,
  address: `0x${string}`,
): Promise<Lane | undefined> {
  const rows = await database.read((db) =>
    db.select().from(lanes).where(eq(lanes.address, address)),
  )
  return rows[0]
}

/** A lane that was never used here begins at the chain's count. */
export const insertLane = (database: Database, address: `0x${string}`, nextNonce: number) =>
  database.run((db) => db.insert(lanes).values({ address, nextNonce }).onConflictDoNothing())

/** Takes a lane nobody holds (a new epoch), or holds on to it (the same one). */
export async function leaseLane(
  database: Database,
  address: `0x${string}`,
  holder: string,
  leaseMs: number,
): Promise<Lane | undefined> {
  const rows = await database.run((db) =>
    db
      .update(lanes)
      .set({
        holder,
        epoch: sql`${lanes.epoch} + case when ${lanes.holder} = ${holder} then 0 else 1 end`,
        leasedUntil: sql`now() + ${leaseMs} * interval '1 millisecond'`,
        updatedAt: sql`now()`,
      })
      .where(
        and(
          eq(lanes.address, address),
          or(
            eq(lanes.holder, holder),
            isNull(lanes.leasedUntil),
            lt(lanes.leasedUntil, sql`now()`),
          ),
        ),
      )
      .returning(),
  )
  return rows[0]
}

/** Ends the leases at an orderly shutdown, so that the next process need not wait for them. */
export const releaseLanes = (database: Database, holder: string) =>
  database.run((db) =>
    db.update(lanes).set({ leasedUntil: null, holder: null }).where(eq(lanes.holder, holder)),
  )

export const noteFault = (database: Database, address: `0x${string}`, fault: string | null) =>
  database.run((db) => db.update(lanes).set({ fault }).where(eq(lanes.address, address)))

const held = (lease: Lease, holder: string) =>
  and(
    eq(lanes.address, lease.address),
    eq(lanes.holder, holder),
    eq(lanes.epoch, lease.epoch),
    gt(lanes.leasedUntil, sql`now()`),
  )

/** Gives out the next nonce; undefined when the lease was lost. Never given back. */
export async function drawNonce(tx: Tx, lease: Lease, holder: string): Promise<number | undefined> {
  const rows = await tx
    .update(lanes)
    .set({ nextNonce: sql`${lanes.nextNonce} + 1`, updatedAt: sql`now()` })
    .where(and(held(lease, holder), isNull(lanes.fault)))
    .returning({ next: lanes.nextNonce })
  return rows[0] && rows[0].next - 1
}

/** Whether the lease is still held; locks the row until the transaction ends. */
export async function stillHeld(tx: Tx, lease: Lease, holder: string): Promise<boolean> {
  const rows = await tx
    .select({ address: lanes.address })
    .from(lanes)
    .where(held(lease, holder))
    .for('update')
  return rows.length === 1
}
