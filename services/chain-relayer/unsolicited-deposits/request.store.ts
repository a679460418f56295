import { and, asc, eq, ne, sql } from 'drizzle-orm'
import { bigint, check, index, integer, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { addressColumn, at } from '#platform/db/columns'
import { erasedNote } from '#platform/db/erasure'
import type { Db, Tx } from '#platform/db/open'
import { schema } from '../schema.store'

const requestStates = ['asked', 'ordered', 'refused'] as const

/** Requests to return AUSD, whose rows are never deleted. A refused request may be made again. */
export const requests = schema.table(
  'giveback_request',
  {
    id: bigint('id', { mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
    txHash: text('tx_hash').$type<`0x${string}`>().notNull(),
    logIndex: integer('log_index').notNull(),
    askedBy: text('asked_by').notNull(),
    reason: text('reason').notNull(),
    /** The sender, or null until it is known. */
    wallet: addressColumn('wallet'),
    askedAt: at('asked_at').notNull().defaultNow(),
    state: text('state', { enum: requestStates }).notNull().default('asked'),
    refusal: text('refusal'),
    operationId: text('operation_id'),
    decidedAt: at('decided_at'),
  },
  (table) => [
    uniqueIndex('giveback_request_once').on(table.txHash, table.logIndex).where(sql`state <> 'refused'`),
    index('giveback_request_asked').on(table.id).where(sql`state = 'asked'`),
    check('giveback_request_named', sql`tx_hash ~ '^0x[0-9a-f]{64}$' and log_index >= 0`),
    check('giveback_request_signed', sql`btrim(asked_by) <> '' and btrim(reason) <> ''`),
    check(
      'giveback_request_decided',
      sql`(state = 'refused') = (refusal is not null) and (state = 'ordered') = (operation_id is not null)`,
    ),
  ],
)
export type GivebackRequest = typeof requests.$inferSelect

/** Stores a request and returns undefined, or returns the request that exists already. */
export async function recordRequest(
  tx: Tx,
  asked: Pick<GivebackRequest, 'txHash' | 'logIndex' | 'askedBy' | 'reason'>,
): Promise<GivebackRequest | undefined> {
  const noted = await tx.insert(requests).values(asked).onConflictDoNothing().returning()
  if (noted.length > 0) return undefined
  const { txHash, logIndex, state } = requests
  const isThis = and(eq(txHash, asked.txHash), eq(logIndex, asked.logIndex), ne(state, 'refused'))
  return (await tx.select().from(requests).where(isThis))[0]
}

export const findAsked = (db: Db, rowsMax: number): Promise<GivebackRequest[]> =>
  db.select().from(requests).where(eq(requests.state, 'asked')).orderBy(asc(requests.id)).limit(rowsMax)

export type GivebackDecision =
  | { readonly state: 'ordered'; readonly operationId: string }
  | { readonly state: 'refused'; readonly refusal: string }

/**
 * Stores a decision. Returns false if another instance decided first. Without a wallet no erasure would find the note,
 * so it is not kept.
 */
export async function decideRequest(
  tx: Tx,
  id: bigint,
  wallet: `0x${string}` | null,
  decision: GivebackDecision,
): Promise<boolean> {
  const named = wallet ? { wallet } : { reason: erasedNote }
  const decided = await tx
    .update(requests)
    .set({ ...decision, ...named, decidedAt: sql`now()` })
    .where(and(eq(requests.id, id), eq(requests.state, 'asked')))
    .returning({ id: requests.id })
  return decided.length === 1
}
