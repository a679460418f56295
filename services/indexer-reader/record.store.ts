import { and, eq, isNull, sql } from 'drizzle-orm'
import { bigint, boolean, index, integer, jsonb, primaryKey, text } from 'drizzle-orm/pg-core'
import type { Address } from 'viem'
import { addressColumn, amountColumn, isOneOf } from '#platform/db/columns'
import { type Database, type Db, sendAhead, type Tx } from '#platform/db/open'
import { cursors, type ProjectionOrigin, servingOf } from './cursor.store'
import type { ChainEvent } from './event'
import { type Cycle, type HeldRepayment, outcomes, unseen, type WalletProjection } from './projection'
import { schema } from './schema.store'

type StoredHold = Omit<HeldRepayment, 'amountMicro'> & { amountMicro: string }

export const records = schema.table(
  'records',
  {
    generation: integer('generation').notNull(),
    wallet: addressColumn('wallet').notNull(),
    verified: boolean('verified').notNull(),
    frozen: boolean('frozen').notNull().default(false),
    defaulted: boolean('defaulted').notNull(),
    score: amountColumn('score').notNull(),
    drawnMicro: amountColumn('drawn_micro').notNull(),
    repayCount: integer('repay_count').notNull(),
    cyclesOpened: integer('cycles_opened').notNull(),
    cyclesClosed: integer('cycles_closed').notNull(),
    verifiedAtSeconds: bigint('verified_at_seconds', { mode: 'number' }),
    firstSeenAtSeconds: bigint('first_seen_at_seconds', { mode: 'number' }),
    lastBlock: bigint('last_block', { mode: 'number' }).notNull(),
    /** Holds that had not ended at the wallet's last event. */
    held: jsonb('held_repayments').$type<StoredHold[]>().notNull().default([]),
  },
  (table) => [primaryKey({ columns: [table.generation, table.wallet] })],
)

export const cycles = schema.table(
  'cycles',
  {
    generation: integer('generation').notNull(),
    wallet: addressColumn('wallet').notNull(),
    number: integer('number').notNull(),
    outcome: text('outcome', { enum: outcomes }),
    openedAtSeconds: bigint('opened_at_seconds', { mode: 'number' }).notNull(),
    dueAtSeconds: bigint('due_at_seconds', { mode: 'number' }).notNull().default(0),
    closedAtSeconds: bigint('closed_at_seconds', { mode: 'number' }),
    peakDrawnMicro: amountColumn('peak_drawn_micro').notNull(),
    totalRepaidMicro: amountColumn('total_repaid_micro').notNull(),
    scoreAfter: amountColumn('score_after'),
    openTxHash: text('open_tx_hash').notNull().$type<`0x${string}`>(),
    closeTxHash: text('close_tx_hash').$type<`0x${string}`>(),
  },
  (table) => [
    primaryKey({ columns: [table.generation, table.wallet, table.number] }),
    index('cycles_open').on(table.generation, table.dueAtSeconds, table.wallet).where(isNull(table.outcome)),
  ],
)

export type Standings = Map<Address, WalletProjection>

/** Returns a list for `in`. It is one text parameter, which takes a list of any length. */
const oneOf = (wallets: Iterable<Address>) =>
  sql`(select json_array_elements_text(${JSON.stringify([...wallets])}::json))`

/**
 * Loads the open cycle and those that a held repayment can reverse. A wallet without a row is
 * `unseen`.
 */
export async function loadStandings(db: Db, generation: number, wallets: ReadonlySet<Address>): Promise<Standings> {
  const standings: Standings = new Map([...wallets].map((wallet) => [wallet, unseen]))
  if (wallets.size === 0) return standings
  // Cycles are found by number, because a lookup by outcome would scan all closed ones.
  const open = sql`${records.cyclesClosed} + 1`
  const reversible = sql`array(
    select (one->>'cycle')::int from jsonb_array_elements(${records.held}) one)`
  const needed = and(
    eq(cycles.generation, records.generation),
    eq(cycles.wallet, records.wallet),
    sql`${cycles.number} = any(${open} || ${reversible})`,
  )
  const rows = await db
    .select()
    .from(records)
    .leftJoin(cycles, needed)
    .where(and(eq(records.generation, generation), isOneOf(records.wallet, wallets)))
  for (const { records: record, cycles: cycle } of rows) {
    const seen = standings.get(record.wallet)!
    const before: WalletProjection = seen === unseen ? standingOf(record) : seen
    standings.set(record.wallet, cycle ? withCycle(before, cycle) : before)
  }
  return standings
}

const standingOf = ({ held, ...record }: typeof records.$inferSelect): WalletProjection => ({
  ...record,
  held: held.map((one) => ({ ...one, amountMicro: BigInt(one.amountMicro) })),
  open: null,
  closed: [],
})

const withCycle = (standing: WalletProjection, cycle: Cycle): WalletProjection =>
  cycle.outcome === null ? { ...standing, open: cycle } : { ...standing, closed: [...standing.closed, cycle] }

/** Stores records and cycles together with the next statement or the commit. */
export function saveStandings(tx: Tx, generation: number, standings: Standings): void {
  if (standings.size === 0) return
  saveRecords(tx, generation, standings)
  saveCycles(tx, generation, standings)
}

function saveRecords(tx: Tx, generation: number, standings: Standings): void {
  const rows = [...standings].map(([wallet, { open: _, closed: __, ...standing }]) => ({
    wallet,
    ...standing,
    score: standing.score.toString(),
    drawnMicro: standing.drawnMicro.toString(),
    held: standing.held.map((one) => ({ ...one, amountMicro: one.amountMicro.toString() })),
  }))
  const saving = sql`
    insert into ${records} (generation, wallet, verified, frozen, defaulted, score,
      drawn_micro, repay_count, cycles_opened, cycles_closed, verified_at_seconds,
      first_seen_at_seconds, last_block, held_repayments)
    select ${generation}, r.wallet, r.verified, r.frozen, r.defaulted, r.score, r."drawnMicro",
      r."repayCount", r."cyclesOpened", r."cyclesClosed", r."verifiedAtSeconds",
      r."firstSeenAtSeconds", r."lastBlock", r.held
    from json_to_recordset(${JSON.stringify(rows)}::json) as r (wallet text, verified boolean,
      frozen boolean, defaulted boolean, score numeric, "drawnMicro" numeric, "repayCount" int,
      "cyclesOpened" int, "cyclesClosed" int, "verifiedAtSeconds" bigint,
      "firstSeenAtSeconds" bigint, "lastBlock" bigint, held jsonb)
    on conflict (generation, wallet) do update set
      verified = excluded.verified, frozen = excluded.frozen, defaulted = excluded.defaulted,
      score = excluded.score, held_repayments = excluded.held_repayments,
      drawn_micro = excluded.drawn_micro, repay_count = excluded.repay_count,
      cycles_opened = excluded.cycles_opened, cycles_closed = excluded.cycles_closed,
      verified_at_seconds = excluded.verified_at_seconds,
      first_seen_at_seconds = excluded.first_seen_at_seconds, last_block = excluded.last_block`
  sendAhead(tx, saving)
}

function saveCycles(tx: Tx, generation: number, standings: Standings): void {
  const rows = [...standings].flatMap(([wallet, { open, closed }]) =>
    [...closed, ...(open ? [open] : [])].map((cycle) => ({
      wallet,
      ...cycle,
      peakDrawnMicro: cycle.peakDrawnMicro.toString(),
      totalRepaidMicro: cycle.totalRepaidMicro.toString(),
      scoreAfter: cycle.scoreAfter?.toString() ?? null,
    })),
  )
  if (rows.length === 0) return
  const saving = sql`
    insert into ${cycles} (generation, wallet, number, outcome, opened_at_seconds,
      due_at_seconds, closed_at_seconds, peak_drawn_micro, total_repaid_micro, score_after,
      open_tx_hash, close_tx_hash)
    select ${generation}, r.wallet, r.number, r.outcome, r."openedAtSeconds",
      r."dueAtSeconds", r."closedAtSeconds", r."peakDrawnMicro", r."totalRepaidMicro",
      r."scoreAfter", r."openTxHash", r."closeTxHash"
    from json_to_recordset(${JSON.stringify(rows)}::json) as r (wallet text, number int,
      outcome text, "openedAtSeconds" bigint, "dueAtSeconds" bigint,
      "closedAtSeconds" bigint, "peakDrawnMicro" numeric,
      "totalRepaidMicro" numeric, "scoreAfter" numeric, "openTxHash" text, "closeTxHash" text)
    on conflict (generation, wallet, number) do update set
      outcome = excluded.outcome, opened_at_seconds = excluded.opened_at_seconds,
      due_at_seconds = excluded.due_at_seconds, closed_at_seconds = excluded.closed_at_seconds,
      peak_drawn_micro = excluded.peak_drawn_micro,
      total_repaid_micro = excluded.total_repaid_micro, score_after = excluded.score_after,
      open_tx_hash = excluded.open_tx_hash, close_tx_hash = excluded.close_tx_hash`
  sendAhead(tx, saving)
}

/** Moves the due dates of all open cycles, as `evolve` does for one. */
export const extendTerms = (tx: Tx, generation: number, { args }: ChainEvent<'TermsExtended'>) =>
  tx
    .update(cycles)
    .set({ dueAtSeconds: sql`${cycles.dueAtSeconds} + ${args.seconds_}::bigint` })
    .where(and(eq(cycles.generation, generation), isNull(cycles.outcome)))

/**
 * Reads records in one statement, so that cursor, rows and cycles are of the same block. Returns null while no
 * generation of this origin serves.
 */
export async function loadRecords(database: Database, origin: ProjectionOrigin, wallets: ReadonlySet<Address>) {
  const asked = and(eq(records.generation, cursors.generation), sql`${records.wallet} in ${oneOf(wallets)}`)
  const owned = and(eq(cycles.generation, records.generation), eq(cycles.wallet, records.wallet))
  const rows = await database.read((db) =>
    db.select().from(cursors).leftJoin(records, asked).leftJoin(cycles, owned).where(servingOf(origin)),
  )
  if (!rows[0]) return null
  const found = new Map<Address, { record: typeof records.$inferSelect; cycles: Cycle[] }>()
  for (const row of rows) {
    if (!row.records) continue
    const entry = found.get(row.records.wallet) ?? { record: row.records, cycles: [] }
    if (row.cycles) entry.cycles.push(row.cycles)
    found.set(row.records.wallet, entry)
  }
  return { cursor: rows[0].cursors, found }
}
