import { and, asc, eq, isNull, lte, sql } from 'drizzle-orm'
import { bigint, index, integer, primaryKey, text } from 'drizzle-orm/pg-core'
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import { addressColumn, amountColumn, at, fromNow } from '#platform/db/columns'
import { insertNew } from '#platform/db/insert-new'
import type { Db, Tx } from '#platform/db/open'
import { prepared } from '#platform/db/prepared'
import { autoRepayFailures, autoRepaySources } from '#shared/messages/credit'
import { schema } from '../schema.store'

/** `needless`: when the contract was asked, nothing was owed or allowed any more. */
const outcomes = ['repaid', 'failed', 'needless'] as const

/** Tries to repay a debt automatically, numbered in each cycle by `attempt`; rows are kept permanently. */
export const autoRepayments = schema.table(
  'auto_repayments',
  {
    wallet: addressColumn('wallet').notNull(),
    cycle: integer('cycle').notNull(),
    attempt: integer('attempt').notNull(),
    /** Time from which the try was due, in unix seconds of the chain. Null in rows that earlier versions wrote. */
    plannedAt: bigint('planned_at', { mode: 'number' }),
    orderedAt: at('ordered_at').notNull().defaultNow(),
    /** AUSD that the contract took, and from where; until it has, what it was to take. Null if that is not known. */
    ausdMicro: amountColumn('ausd_micro'),
    source: text('source', { enum: autoRepaySources }),
    /** Null until the relayer has reported. */
    outcome: text('outcome', { enum: outcomes }),
    reason: text('reason', { enum: autoRepayFailures }),
    txHash: text('tx_hash').$type<`0x${string}`>(),
    endedAt: at('ended_at'),
  },
  (table) => [
    primaryKey({ columns: [table.wallet, table.cycle, table.attempt] }),
    index('auto_repayments_unanswered').on(table.orderedAt).where(isNull(table.outcome)),
  ],
)

export type Try = Pick<typeof autoRepayments.$inferSelect, 'wallet' | 'cycle' | 'attempt'>
export type AutoRepayment = typeof autoRepayments.$inferSelect
/** Names a try for the relayer. */
export const causeOf = ({ wallet, cycle, attempt }: Try): string => `${wallet}:${cycle}:${attempt}`

/** What a try is about to take, or took. */
export type Sum = Pick<AutoRepayment, 'ausdMicro' | 'source'>
export type Ending = Pick<AutoRepayment, 'outcome' | 'reason' | 'txHash'> & Partial<Sum>

export type Planned = Pick<AutoRepayment, 'attempt' | 'plannedAt'>

export const findPlanned = (db: Db, wallet: `0x${string}`, cycle: number): Promise<Planned[]> =>
  db
    .select({ attempt: autoRepayments.attempt, plannedAt: autoRepayments.plannedAt })
    .from(autoRepayments)
    .where(and(eq(autoRepayments.wallet, wallet), eq(autoRepayments.cycle, cycle)))
    .orderBy(asc(autoRepayments.attempt))

/** Records the order of a try. Returns false if any instance ordered it before. */
export const insertTry = (tx: Tx, one: Planned & Try & Sum): Promise<boolean> => insertNew(tx, autoRepayments, one)

export type Unanswered = Try & { readonly ageMs: number }

/** Returns tries that were ordered this long ago and have no outcome, oldest first. */
export const findUnanswered = (db: Db, afterMs: number, rowsMax: number): Promise<Unanswered[]> => {
  const { wallet, cycle, attempt, orderedAt, outcome } = autoRepayments
  const ageMs = sql<number>`(extract(epoch from now() - ${orderedAt}) * 1000)::float8`
  return db
    .select({ wallet, cycle, attempt, ageMs })
    .from(autoRepayments)
    .where(and(isNull(outcome), lte(orderedAt, fromNow(-afterMs))))
    .orderBy(asc(orderedAt))
    .limit(rowsMax)
}

/** Records the end of a try, also of one that a restored database does not have. Returns false if it had ended before. */
export async function endTry(tx: Tx, one: Try, ending: Ending, endedAt: Date): Promise<boolean> {
  const ended = await tx
    .insert(autoRepayments)
    .values({ ...one, ...ending, endedAt })
    .onConflictDoUpdate({
      target: [autoRepayments.wallet, autoRepayments.cycle, autoRepayments.attempt],
      set: { ...ending, endedAt },
      setWhere: isNull(autoRepayments.outcome),
    })
    .returning({ attempt: autoRepayments.attempt })
  return ended.length > 0
}

const triesOf = prepared((db) =>
  db
    .select()
    .from(autoRepayments)
    .where(eq(autoRepayments.wallet, sql.placeholder('wallet')))
    .orderBy(asc(autoRepayments.cycle), asc(autoRepayments.attempt))
    .prepare('auto_repayments'),
)

/** Returns all tries of a wallet, in order. A cycle lasts a month, so a wallet has a few dozen in a year. */
export const findTries = (db: PostgresJsDatabase, wallet: `0x${string}`): Promise<AutoRepayment[]> =>
  triesOf(db).execute({ wallet })
