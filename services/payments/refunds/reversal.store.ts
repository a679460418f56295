import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import { check, index, text } from 'drizzle-orm/pg-core'
import { addressColumn, amountColumn, at, timestamps } from '#shared/db/columns'
import type { Db, Tx } from '#shared/db/open'
import { schema } from '../schema.store'

/** AUSD (10⁻⁶) a wallet was given for a payment that was taken back after its hold. */
export const reversals = schema.table(
  'reversals',
  {
    paymentId: text('payment_id').primaryKey(),
    wallet: addressColumn('wallet').notNull(),
    lostMicro: amountColumn('lost_micro').notNull(),
    madeGoodMicro: amountColumn('made_good_micro').notNull().default(sql`0`),
    /** An operator gave the rest up. */
    clearedAt: at('cleared_at'),
    ...timestamps(),
  },
  (table) => [
    index('reversals_wallet').on(table.wallet),
    check(
      'reversals_amounts',
      sql`${table.lostMicro} > 0 and ${table.madeGoodMicro} >= 0 and ${table.madeGoodMicro} <= ${table.lostMicro}`,
    ),
  ],
)

/** Records what is lost by a payment; it only ever grows. False when nothing is new. */
export async function storeReversal(
  tx: Tx,
  reversal: { paymentId: string; wallet: `0x${string}`; lostMicro: bigint },
): Promise<boolean> {
  const rows = await tx
    .insert(reversals)
    .values(reversal)
    .onConflictDoUpdate({
      target: reversals.paymentId,
      set: { lostMicro: reversal.lostMicro, clearedAt: null, updatedAt: sql`now()` },
      setWhere: sql`${reversals.lostMicro} < ${reversal.lostMicro.toString()}::numeric`,
    })
    .returning({ paymentId: reversals.paymentId })
  return rows.length === 1
}

const isMissing = and(
  isNull(reversals.clearedAt),
  sql`${reversals.madeGoodMicro} < ${reversals.lostMicro}`,
)

/** What nobody has made good or given up, oldest first. */
export const findMissing = (tx: Db, wallet: `0x${string}`) =>
  tx
    .select()
    .from(reversals)
    .where(and(eq(reversals.wallet, wallet), isMissing))
    .orderBy(asc(reversals.createdAt), asc(reversals.paymentId))

/** Counts what was made good of one reversal. */
export const addMadeGood = (tx: Tx, paymentId: string, micro: bigint) =>
  tx
    .update(reversals)
    .set({
      madeGoodMicro: sql`${reversals.madeGoodMicro} + ${micro.toString()}::numeric`,
      updatedAt: sql`now()`,
    })
    .where(eq(reversals.paymentId, paymentId))

/** Gives up what is missing of a wallet. */
export const clearMissing = (tx: Tx, wallet: `0x${string}`) =>
  tx
    .update(reversals)
    .set({ clearedAt: sql`now()`, updatedAt: sql`now()` })
    .where(and(eq(reversals.wallet, wallet), isMissing))

/** What is missing in all (10⁻⁶ AUSD). */
export async function sumMissing(db: Db): Promise<string> {
  const [missing] = await db
    .select({
      micro: sql<string>`coalesce(sum(${reversals.lostMicro} - ${reversals.madeGoodMicro}), 0)::text`,
    })
    .from(reversals)
    .where(isMissing)
  return missing!.micro
}
