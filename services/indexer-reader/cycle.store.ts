import { sql } from 'drizzle-orm'
import { bigint, integer, primaryKey, text } from 'drizzle-orm/pg-core'
import type { Address } from 'viem'
import { addressColumn, amountColumn } from '#shared/db/columns'
import type { Tx } from '#shared/db/open'
import { outcomes, type Standing } from './projection.ts'
import { schema } from './schema.store.ts'

/** The cycles of each wallet; one without an outcome is open. */
export const cycles = schema.table(
  'cycles',
  {
    generation: integer('generation').notNull(),
    wallet: addressColumn('wallet').notNull(),
    number: integer('number').notNull(),
    outcome: text('outcome', { enum: outcomes }),
    openedAtSeconds: bigint('opened_at_seconds', { mode: 'number' }).notNull(),
    closedAtSeconds: bigint('closed_at_seconds', { mode: 'number' }),
    peakDrawnMicro: amountColumn('peak_drawn_micro').notNull(),
    totalRepaidMicro: amountColumn('total_repaid_micro').notNull(),
    scoreAfter: amountColumn('score_after'),
    openTxHash: text('open_tx_hash').notNull().$type<`0x${string}`>(),
    closeTxHash: text('close_tx_hash').$type<`0x${string}`>(),
  },
  (table) => [primaryKey({ columns: [table.generation, table.wallet, table.number] })],
)

/** Writes the cycles that the standings hold; all others stay untouched. */
export async function saveCycles(
  tx: Tx,
  generation: number,
  standings: ReadonlyMap<Address, Standing>,
) {
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
  await tx.execute(sql`
    insert into ${cycles} (generation, wallet, number, outcome, opened_at_seconds,
      closed_at_seconds, peak_drawn_micro, total_repaid_micro, score_after, open_tx_hash,
      close_tx_hash)
    select ${generation}, r.wallet, r.number, r.outcome, r."openedAtSeconds",
      r."closedAtSeconds", r."peakDrawnMicro", r."totalRepaidMicro", r."scoreAfter",
      r."openTxHash", r."closeTxHash"
    from json_to_recordset(${JSON.stringify(rows)}::json) as r (wallet text, number int,
      outcome text, "openedAtSeconds" bigint, "closedAtSeconds" bigint, "peakDrawnMicro" numeric,
      "totalRepaidMicro" numeric, "scoreAfter" numeric, "openTxHash" text, "closeTxHash" text)
    on conflict (generation, wallet, number) do update set
      outcome = excluded.outcome, opened_at_seconds = excluded.opened_at_seconds,
      closed_at_seconds = excluded.closed_at_seconds,
      peak_drawn_micro = excluded.peak_drawn_micro,
      total_repaid_micro = excluded.total_repaid_micro, score_after = excluded.score_after,
      open_tx_hash = excluded.open_tx_hash, close_tx_hash = excluded.close_tx_hash`)
}
