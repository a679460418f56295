import { type SQL, sql } from 'drizzle-orm'
import { text } from 'drizzle-orm/pg-core'
import { amountColumn, at } from '#shared/db/columns'
import type { Db } from '#shared/db/open'
import { sumOf, sumWhere } from '#shared/db/sum'
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
export const sumPromised = (db: Db, readAt: Date): Promise<bigint> => sumOf(db, promisedBy(readAt))

/** The same as parts of a sum. */
export function promisedBy(readAt: Date): SQL[] {
  const since = sql`${readAt.toISOString()}::timestamptz`
  const settledSince = sql`${changedAt} >= ${since} - ${noted} and ${creditedAt} >= ${since}`
  return [sumWhere(owed, payments, promised(payments)), sumWhere(liveMicro, payments, settledSince)]
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
