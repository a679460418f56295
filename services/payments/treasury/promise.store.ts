import { sql } from 'drizzle-orm'
import { bigint, text } from 'drizzle-orm/pg-core'
import { maybeSince } from '#platform/db/clock'
import { amountColumn, at } from '#platform/db/columns'
import type { Db } from '#platform/db/open'
import { sumOf, sumWhere } from '#platform/db/sum'
import { payments } from '../payment.table'
import { schema } from '../schema.store'

const { onchainMicro, creditedAt } = payments

/**
 * Running total of promises. A trigger on the payments (`infra/migrations`) writes its parts, which are
 * merged over time: a sum over the payments would read every open checkout for each new one.
 */
export const promiseParts = schema.table('promise_parts', {
  id: bigint('id', { mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
  /** Change of the total in 10⁻⁶ AUSD, positive or negative. */
  micro: amountColumn('micro').notNull(),
})

/**
 * Sums the AUSD (10⁻⁶) that is not deducted from the balance read at `readAt` yet, because it is not on the
 * chain or only since then.
 */
export const sumPromised = (db: Db, readAt: Date): Promise<bigint> =>
  sumOf(db, [
    sumWhere(promiseParts.micro, promiseParts, sql`true`),
    sumWhere(onchainMicro, payments, maybeSince(creditedAt, readAt)),
  ])

/**
 * AUSD owed to cash-outs, as last reported by payouts. It is stored, so that top-ups do not need payouts to
 * be up; while payouts is down, no cash-out is accepted or paid.
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
