import { and, gte, sql } from 'drizzle-orm'
import { text } from 'drizzle-orm/pg-core'
import { amountColumn, at } from '#shared/db/columns'
import type { Db } from '#shared/db/open'
import { payments } from '../payment.store'
import { schema } from '../schema.store'
import { promised } from './promised'

const { ausdMicro, fiatMinor, refundedMinor, offsetMicro, liveMicro } = payments
const { creditedAt, changedAt } = payments

/**
 * What a payment is still worth, less what of it is kept to make good an earlier loss. Most are open
 * checkouts, of which neither happened: there may be thousands, so they are not divided.
 */
const owed = sql`case when ${refundedMinor} = 0 and ${offsetMicro} = 0 then ${ausdMicro} else greatest(0, div(${ausdMicro} * greatest(0, ${fiatMinor} - ${refundedMinor}), ${fiatMinor}) - ${offsetMicro}) end`

/** The row's own note of a change comes after the time of the step; clocks may differ by a second. */
const noted = sql`interval '10 seconds'`

/**
 * AUSD (10⁻⁶) that the treasury still has to give for what we promised, as far as what it held at
 * `readAt` may not show it: all that is not on the chain, and all that got there since.
 */
export async function sumPromised(db: Db, readAt: Date): Promise<bigint> {
  const since = readAt.toISOString()
  const [open] = await db
    .select({ micro: sql<string>`coalesce(sum(${owed}), 0)::text` })
    .from(payments)
    .where(promised(payments))
  const [settled] = await db
    .select({ micro: sql<string>`coalesce(sum(${liveMicro}), 0)::text` })
    .from(payments)
    .where(and(sql`${changedAt} >= ${since}::timestamptz - ${noted}`, gte(creditedAt, readAt)))
  return BigInt(open!.micro) + BigInt(settled!.micro)
}

/**
 * What cash-outs last said of the treasury's AUSD that is theirs: kept, so that a top-up needs no
 * word of theirs. While they are silent, none is taken on and none is paid.
 */
export const owedToCashouts = schema.table('owed_to_cashouts', {
  source: text('source').primaryKey(),
  micro: amountColumn('micro').notNull(),
  readAt: at('read_at').notNull(),
})
const source = 'payouts'

export async function findOwed(db: Db): Promise<bigint | undefined> {
  const rows = await db.select({ micro: owedToCashouts.micro }).from(owedToCashouts)
  return rows[0]?.micro
}

export const storeOwed = (db: Db, micro: bigint, readAt: Date) =>
  db
    .insert(owedToCashouts)
    .values({ source, micro, readAt })
    .onConflictDoUpdate({ target: owedToCashouts.source, set: { micro, readAt } })
