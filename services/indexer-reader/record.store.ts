import { and, eq, isNull, sql } from 'drizzle-orm'
import { bigint, boolean, integer, primaryKey } from 'drizzle-orm/pg-core'
import type { Address } from 'viem'
import { addressColumn, amountColumn } from '#shared/db/columns'
import type { Database, Db, Tx } from '#shared/db/open'
import { cursors, type Origin } from './cursor.store.ts'
import { cycles, saveCycles } from './cycle.store.ts'
import { type Cycle, type Standing, unseen } from './projection.ts'
import { schema } from './schema.store.ts'

/** What the events of each wallet add up to, without its cycles. */
export const records = schema.table(
  'records',
  {
    generation: integer('generation').notNull(),
    wallet: addressColumn('wallet').notNull(),
    verified: boolean('verified').notNull(),
    defaulted: boolean('defaulted').notNull(),
    score: amountColumn('score').notNull(),
    drawnMicro: amountColumn('drawn_micro').notNull(),
    repayCount: integer('repay_count').notNull(),
    cyclesOpened: integer('cycles_opened').notNull(),
    cyclesClosed: integer('cycles_closed').notNull(),
    verifiedAtSeconds: bigint('verified_at_seconds', { mode: 'number' }),
    firstSeenAtSeconds: bigint('first_seen_at_seconds', { mode: 'number' }),
    lastBlock: bigint('last_block', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.generation, table.wallet] })],
)

export type Standings = Map<Address, Standing>

/** The wallets of one text parameter: a list of any length. */
const oneOf = (wallets: Iterable<Address>) =>
  sql`(select json_array_elements_text(${JSON.stringify([...wallets])}::json))`

/** Where the wallets stand, with the cycle that is open; a wallet without a row is `unseen`. */
export async function loadStandings(
  db: Db,
  generation: number,
  wallets: ReadonlySet<Address>,
): Promise<Standings> {
  const standings: Standings = new Map([...wallets].map((wallet) => [wallet, unseen]))
  if (wallets.size === 0) return standings
  const open = and(
    eq(cycles.generation, records.generation),
    eq(cycles.wallet, records.wallet),
    isNull(cycles.outcome),
  )
  const rows = await db
    .select()
    .from(records)
    .leftJoin(cycles, open)
    .where(and(eq(records.generation, generation), sql`${records.wallet} in ${oneOf(wallets)}`))
  for (const row of rows) {
    standings.set(row.records.wallet, { ...row.records, open: row.cycles, closed: [] } as Standing)
  }
  return standings
}

/** Writes the wallets' rows and the cycles that these standings opened, changed or closed. */
export async function saveStandings(tx: Tx, generation: number, standings: Standings) {
  if (standings.size === 0) return
  const rows = [...standings].map(([wallet, { open: _, closed: __, ...standing }]) => ({
    wallet,
    ...standing,
    score: standing.score.toString(),
    drawnMicro: standing.drawnMicro.toString(),
  }))
  await tx.execute(sql`
    insert into ${records} (generation, wallet, verified, defaulted, score, drawn_micro,
      repay_count, cycles_opened, cycles_closed, verified_at_seconds, first_seen_at_seconds,
      last_block)
    select ${generation}, r.wallet, r.verified, r.defaulted, r.score, r."drawnMicro",
      r."repayCount", r."cyclesOpened", r."cyclesClosed", r."verifiedAtSeconds",
      r."firstSeenAtSeconds", r."lastBlock"
    from json_to_recordset(${JSON.stringify(rows)}::json) as r (wallet text, verified boolean,
      defaulted boolean, score numeric, "drawnMicro" numeric, "repayCount" int,
      "cyclesOpened" int, "cyclesClosed" int, "verifiedAtSeconds" bigint,
      "firstSeenAtSeconds" bigint, "lastBlock" bigint)
    on conflict (generation, wallet) do update set
      verified = excluded.verified, defaulted = excluded.defaulted, score = excluded.score,
      drawn_micro = excluded.drawn_micro, repay_count = excluded.repay_count,
      cycles_opened = excluded.cycles_opened, cycles_closed = excluded.cycles_closed,
      verified_at_seconds = excluded.verified_at_seconds,
      first_seen_at_seconds = excluded.first_seen_at_seconds, last_block = excluded.last_block`)
  await saveCycles(tx, generation, standings)
}

/**
 * The serving generation's cursor, and each wallet's row and cycles at that very block: one
 * statement, so that no step comes between. Null while no generation of this origin serves.
 */
export async function loadRecords(
  database: Database,
  origin: Origin,
  wallets: ReadonlySet<Address>,
) {
  const serving = and(
    eq(cursors.state, 'serving'),
    eq(cursors.chainId, origin.chainId),
    eq(cursors.contract, origin.contract),
    eq(cursors.deployBlock, origin.deployBlock),
  )
  const asked = and(
    eq(records.generation, cursors.generation),
    sql`${records.wallet} in ${oneOf(wallets)}`,
  )
  const owned = and(eq(cycles.generation, records.generation), eq(cycles.wallet, records.wallet))
  const rows = await database.read((db) =>
    db.select().from(cursors).leftJoin(records, asked).leftJoin(cycles, owned).where(serving),
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
