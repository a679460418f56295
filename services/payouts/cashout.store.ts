import { and, eq, inArray, or, type SQL, sql } from 'drizzle-orm'
import {
  check,
  index,
  integer,
  jsonb,
  type PgInsertValue,
  type PgUpdateSetSource,
  text,
  unique,
} from 'drizzle-orm/pg-core'
import { addressColumn, amountColumn, at, timestamps } from '#shared/db/columns'
import type { Database, Db, Tx } from '#shared/db/open'
import { statesBefore } from '#shared/lifecycle'
import { type CashoutState, cashoutStates, lifecycle } from './cashout.ts'
import type { Reason } from './reason.ts'
import type { CashoutRequest } from './request.ts'
import { schema } from './schema.store.ts'

const words = (list: readonly string[]) => sql.raw(list.map((word) => `'${word}'`).join(', '))

/** What we promised for a quote, and how far it got. */
export const cashouts = schema.table(
  'payouts',
  {
    /** Made from the quote id: reference and idempotency key at the provider, for ever. */
    id: text('id').primaryKey(),
    wallet: addressColumn('wallet').notNull(),
    state: text('state').$type<CashoutState>().notNull(),
    rateMinorPerUsd: amountColumn('rate_minor_per_usd').notNull(),
    ausdMicro: amountColumn('ausd_micro').notNull(),
    fiatMinor: amountColumn('fiat_minor').notNull(),
    quoteId: text('quote_id').notNull(),
    /** Fingerprint of wallet, purpose and body: who else names this quote is refused. */
    takenBy: text('taken_by').notNull(),
    authorizer: addressColumn('authorizer').notNull(),
    authorizationNonce: text('authorization_nonce').notNull(),
    authorization: jsonb('authorization').$type<CashoutRequest['authorization']>().notNull(),
    channelCode: text('channel_code').notNull(),
    /** Account number and holder name, sealed; see bank-details.ts. */
    bankDetails: text('bank_details').notNull(),
    bankDetailsKeyId: text('bank_details_key_id').notNull(),
    providerPayoutId: text('provider_payout_id'),
    providerStatus: text('provider_status'),
    failureCode: text('failure_code'),
    reason: text('reason').$type<Reason>(),
    takeTxHash: text('take_tx_hash'),
    returnTxHash: text('return_tx_hash'),
    /** How often the provider was asked to pay, and when last: committed before each attempt. */
    attempts: integer('attempts').notNull().default(0),
    attemptedAt: at('attempted_at'),
    paidAt: at('paid_at'),
    /** When the sweeper looks again, and how often it did in this state; null: never. */
    lookAt: at('look_at'),
    looks: integer('looks').notNull().default(0),
    ...timestamps(),
  },
  (table) => [
    unique('payouts_quote').on(table.quoteId),
    unique('payouts_authorization').on(table.authorizer, table.authorizationNonce),
    unique('payouts_provider_payout').on(table.providerPayoutId),
    index('payouts_look').on(table.lookAt).where(sql`${table.lookAt} is not null`),
    index('payouts_activity').on(table.wallet, table.createdAt.desc(), table.id.desc()),
    check('payouts_state', sql`${table.state} in (${words(cashoutStates)})`),
    check('payouts_amounts', sql`${table.ausdMicro} > 0 and ${table.fiatMinor} > 0`),
    check('payouts_attempted', sql`${table.attempts} = 0 or ${table.attemptedAt} is not null`),
  ],
)
export type Cashout = typeof cashouts.$inferSelect
export type NewCashout = PgInsertValue<typeof cashouts>
/** New values, or SQL that makes them: the database's clock is the one that counts. */
type Changes = PgUpdateSetSource<typeof cashouts>

export async function findCashout(db: Db, id: string): Promise<Cashout | undefined> {
  return (await db.select().from(cashouts).where(eq(cashouts.id, id)))[0]
}

/** The cash-out that this payout of the provider pays. */
export async function findPaidAs(db: Db, providerPayoutId: string): Promise<Cashout | undefined> {
  const rows = await db
    .select()
    .from(cashouts)
    .where(eq(cashouts.providerPayoutId, providerPayoutId))
  return rows[0]
}

/** Rows that this quote or this authorization already made: at most one each. */
export const findRivals = (db: Db, quoteId: string, authorizer: string, nonce: string) =>
  db
    .select()
    .from(cashouts)
    .where(
      or(
        eq(cashouts.quoteId, quoteId),
        and(
          eq(cashouts.authorizer, authorizer as `0x${string}`),
          eq(cashouts.authorizationNonce, nonce),
        ),
      ),
    )

/** False when the quote or the authorization already has a row. */
export async function insertCashout(tx: Tx, cashout: NewCashout): Promise<boolean> {
  const made = await tx
    .insert(cashouts)
    .values(cashout)
    .onConflictDoNothing()
    .returning({ id: cashouts.id })
  return made.length === 1
}

/** Reads a row and holds it until the transaction ends. */
export async function lockCashout(tx: Tx, id: string): Promise<Cashout | undefined> {
  return (await tx.select().from(cashouts).where(eq(cashouts.id, id)).for('update'))[0]
}

/** Takes the step from a state that leads there; undefined is a lost race, and silence. */
export async function moveCashout(
  db: Db,
  id: string,
  next: CashoutState,
  changes: Changes & { lookAt: SQL | null },
): Promise<Cashout | undefined> {
  const moved = await db
    .update(cashouts)
    .set({ ...changes, state: next, looks: 0, updatedAt: sql`now()` })
    .where(and(eq(cashouts.id, id), inArray(cashouts.state, statesBefore(lifecycle, next))))
    .returning()
  return moved[0]
}

/** Notes facts that change no state. */
export const noteCashout = (db: Db, id: string, changes: Changes) =>
  db.update(cashouts).set(changes).where(eq(cashouts.id, id))

export type Attempt = {
  readonly cashout: Cashout
  /** How long ago the one before was counted, whoever made it; infinite when there was none. */
  readonly sincePreviousMs: number
}

/** Counts one more attempt to pay before it is made; undefined when there is nothing to pay. */
export const countAttempt = (database: Database, id: string): Promise<Attempt | undefined> =>
  database.transaction(async (tx) => {
    const before = await lockCashout(tx, id)
    if (before?.state !== 'paying') return undefined
    const [cashout] = await tx
      .update(cashouts)
      .set({ attempts: before.attempts + 1, attemptedAt: sql`now()` })
      .where(eq(cashouts.id, id))
      .returning()
    const sincePreviousMs = before.attemptedAt
      ? cashout!.attemptedAt!.getTime() - before.attemptedAt.getTime()
      : Number.POSITIVE_INFINITY
    return { cashout: cashout!, sincePreviousMs }
  })
