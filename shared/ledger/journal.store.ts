import { and, asc, eq, sql } from 'drizzle-orm'
import { bigint, check, index, type PgSchema, primaryKey, smallint, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { amountColumn, at, isOneOf, quotedList, textList } from '#platform/db/columns'
import type { SideWrite } from '#platform/db/compiled-query'
import { lockNamed } from '#platform/db/lock'
import type { Db, Tx } from '#platform/db/open'
import { type AccountName, type Asset, accountNames, assets } from '#shared/ledger/chart'
import { difference, type Position, position, unbalanced } from '#shared/ledger/position'

/**
 * Returns the journal of a service. Triggers (`infra/migrations/journals.ts`) refuse updates, deletes, and postings
 * that do not sum to 0 per asset.
 */
export const journalTable = <S extends string>(schema: PgSchema<S>) =>
  schema.table(
    'journal',
    {
      /** Posting, which groups the lines of one event. */
      posting: text('posting').notNull(),
      line: smallint('line').notNull(),
      /** Event, usually a transition such as `paid → held`. */
      event: text('event').notNull(),
      item: text('item').notNull(),
      account: text('account').$type<AccountName>().notNull(),
      asset: text('asset').$type<Asset>().notNull(),
      amount: amountColumn('amount').notNull(),
      /** Posting that this one reverses. Corrections are only made by reversal. */
      reverses: text('reverses'),
      bookedAt: at('booked_at').notNull().default(sql`clock_timestamp()`),
      /** Number of the transaction that booked the line, by which seals divide the journal. Null in lines of before. */
      bookedIn: bigint('booked_in', { mode: 'bigint' }).default(sql`(pg_current_xact_id()::text)::bigint`),
    },
    (table) => [
      primaryKey({ columns: [table.posting, table.line] }),
      index('journal_item').on(table.item),
      index('journal_booked').on(table.bookedAt),
      index('journal_booked_in').using('brin', table.bookedIn),
      uniqueIndex('journal_reversed').on(table.reverses, table.line).where(sql`reverses is not null`),
      check('journal_account', sql`${table.account} in (${quotedList(accountNames)})`),
      check('journal_asset', sql`${table.asset} in (${quotedList(assets)})`),
      check('journal_amount', sql`${table.amount} <> 0`),
    ],
  )
export type JournalTable = ReturnType<typeof journalTable>

export type Posting = {
  readonly event: string
  readonly item: string
  readonly lines: Position
  readonly reverses?: string
}

/** Books a posting in the caller's transaction. Throws if the lines do not sum to 0 per asset. */
export async function book(tx: Tx, journal: JournalTable, posting: Posting): Promise<void> {
  const rows = rowsOf(posting)
  if (rows.length > 0) await tx.insert(journal).values(rows)
}

/** Returns the same insert for use within the statement that changes a row, or undefined if there are no lines. */
export function bookWith(journal: JournalTable, posting: Posting): SideWrite | undefined {
  const rows = rowsOf(posting)
  if (rows.length === 0) return undefined
  const { posting: name, event, item } = rows[0]!
  // guard: a posting of a step is booked only if the step was taken
  return sql`
    insert into ${journal} (posting, line, event, item, account, asset, amount)
    select ${name}, lines.line - 1, ${event}, ${item}, lines.account, lines.asset,
      lines.amount::numeric
    from moved, unnest(${textList(rows.map(({ account }) => account))},
      ${textList(rows.map(({ asset }) => asset))},
      ${textList(rows.map(({ amount }) => String(amount)))})
      with ordinality lines(account, asset, amount, line)`
}

function rowsOf({ event, item, lines, reverses }: Posting) {
  const wrong = unbalanced(lines)
  if (wrong.length > 0) throw new Error(`posting does not balance: ${event} of ${item}, in ${wrong}`)
  const posting = `${item}/${crypto.randomUUID()}`
  return lines.map((line, at) => ({
    ...line,
    posting,
    line: at,
    event,
    item,
    reverses: reverses ?? null,
  }))
}

/**
 * Books each item to its wanted position. The caller must prevent concurrent bookings of these
 * items.
 */
export async function bookAll(
  tx: Tx,
  journal: JournalTable,
  event: string,
  wanted: ReadonlyMap<string, Position>,
): Promise<number> {
  const { item: name, account, asset, amount } = journal
  const said = await tx.select({ item: name, account, asset, amount }).from(journal).where(isOneOf(name, wanted.keys()))
  const byItem = Map.groupBy(said, ({ item }) => item)
  const rows = [...wanted].flatMap(([item, lines]) =>
    rowsOf({ event, item, lines: difference(position(byItem.get(item) ?? []), lines) }),
  )
  if (rows.length > 0) await tx.insert(journal).values(rows)
  return new Set(rows.map(({ item }) => item)).size
}

/** Returns the balance of one account per item; an item that never had one is missing. */
export async function findBalances(
  db: Db,
  journal: JournalTable,
  { account, asset, items }: { account: AccountName; asset: Asset; items: readonly string[] },
): Promise<ReadonlyMap<string, bigint>> {
  const { item, amount } = journal
  const rows = await db
    .select({ item, sum: sql<string>`sum(${amount})::text` })
    .from(journal)
    .where(and(isOneOf(item, items), eq(journal.account, account), eq(journal.asset, asset)))
    .groupBy(item)
  return new Map(rows.map((row) => [row.item, BigInt(row.sum)]))
}

/** Locks the journal of an item until the end of the transaction. */
export const lockItem = (tx: Tx, item: string) => lockNamed(tx, `journal:${item}`)

/**
 * Books an item that has no row to its wanted position. The calls of an item are serialized, so the second of two
 * identical calls books nothing.
 */
export async function bookTo(
  tx: Tx,
  journal: JournalTable,
  { event, item, lines }: Omit<Posting, 'reverses'>,
): Promise<void> {
  // Usually there is nothing to reverse, which is checked without the lock.
  if (lines.length === 0 && !(await isBooked(tx, journal, item))) return
  lockItem(tx, item)
  await bookAll(tx, journal, event, new Map([[item, lines]]))
}

export const isBooked = async (tx: Tx, journal: JournalTable, item: string): Promise<boolean> =>
  (await tx.select({ item: journal.item }).from(journal).where(eq(journal.item, item)).limit(1)).length > 0

/** Error of a posting that cannot be reversed; its message names the posting. */
export class NotReversible extends Error {
  override name = 'NotReversible'
}

/**
 * Reverses a posting. Returns undefined if there is no such posting. Throws `NotReversible` if it was already reversed.
 */
export async function reverse(
  tx: Tx,
  journal: JournalTable,
  { posting: reverses, reason }: { posting: string; reason: string },
): Promise<{ posting: string; item: string } | undefined> {
  const lines = await tx.select().from(journal).where(eq(journal.posting, reverses)).orderBy(asc(journal.line))
  const [first] = lines
  if (!first) return undefined
  const { item } = first
  lockItem(tx, item)
  const before = await tx.select({ posting: journal.posting }).from(journal).where(eq(journal.reverses, reverses))
  if (before[0]) throw new NotReversible(`${reverses} was already reversed by ${before[0].posting}`)
  const posting = `${item}/${crypto.randomUUID()}`
  const event = `reversed: ${reason}`
  await tx.insert(journal).values(
    lines.map(({ line, account, asset, amount }) => ({
      posting,
      line,
      event,
      item,
      reverses,
      account,
      asset,
      amount: -amount,
    })),
  )
  return { posting, item }
}
