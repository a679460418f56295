import { type SQL, sql } from 'drizzle-orm'
import { bigint, text } from 'drizzle-orm/pg-core'
import { maybeSince } from '#shared/db/clock'
import { amountColumn, at } from '#shared/db/columns'
import type { Db } from '#shared/db/open'
import { sumOf, sumWhere } from '#shared/db/sum'
import { payments } from '../payment.store'
import { schema } from '../schema.store'

const { liveMicro, creditedAt } = payments

/**
 * What promises came to, as changes of the sum: a trigger on the payments writes one whenever what a
 * payment is owed changes, in the same transaction, and makes one of many as they come. A sum over the
 * payments themselves would read every open checkout for each new one.
 */
export const promiseParts = schema.table('promise_parts', {
  id: bigint('id', { mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
  /** 10⁻⁶ AUSD, more or less than before. */
  micro: amountColumn('micro').notNull(),
})

/**
 * AUSD (10⁻⁶) that the treasury still has to give for what we promised, as far as what it held at
 * `readAt` may not show it: all that is not on the chain, and all that got there since.
 */
export const sumPromised = (db: Db, readAt: Date): Promise<bigint> => sumOf(db, promisedBy(readAt))

/** The same as parts of a sum. */
export function promisedBy(readAt: Date): SQL[] {
  return [
    sumWhere(promiseParts.micro, promiseParts, sql`true`),
    sumWhere(liveMicro, payments, maybeSince(creditedAt, readAt)),
  ]
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
