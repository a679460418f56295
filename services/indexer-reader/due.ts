import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import { type Handler, handler } from '#platform/bus/serve'
import { IndexerDue } from '#shared/messages/indexer'
import { ok, refuse } from '#shared/refusals'
import type { Context } from './context'
import { cursors, servingOf } from './cursor.store'
import { mayAnswer } from './record'
import { cycles } from './record.store'

const pageMax = 500

export function answerDue({
  database,
  origin,
  lagMaxMs,
  clock,
}: Pick<Context, 'database' | 'origin' | 'lagMaxMs' | 'clock'>): Handler {
  return handler(IndexerDue, async ({ sinceSeconds, untilSeconds, after }) => {
    const from = sql`${cursors.blockTimeSeconds} - ${sinceSeconds}::bigint`
    const to = sql`${cursors.blockTimeSeconds} + ${untilSeconds}::bigint`
    const place = sql`(${cycles.dueAtSeconds}, ${cycles.wallet})`
    const rows = await database.read((db) =>
      db
        .select()
        .from(cursors)
        .leftJoin(
          cycles,
          and(
            eq(cycles.generation, cursors.generation),
            isNull(cycles.outcome),
            sql`${cycles.dueAtSeconds} between ${from} and ${to}`,
            after === null ? undefined : sql`${place} > (${after.dueAt}::bigint, ${after.wallet})`,
          ),
        )
        .where(servingOf(origin))
        .orderBy(asc(cycles.dueAtSeconds), asc(cycles.wallet))
        .limit(pageMax),
    )
    const cursor = rows[0]?.cursors
    if (!cursor || !mayAnswer(cursor, lagMaxMs, clock())) return refuse('indexer_lags')
    const found = rows.flatMap(({ cycles: one }) => (one ? [one] : []))
    return ok({
      cycles: found.map(({ wallet, number, openedAtSeconds, dueAtSeconds }) => ({
        wallet,
        number,
        openedAt: String(openedAtSeconds),
        dueAt: String(dueAtSeconds),
      })),
      isLast: found.length < pageMax,
      blockTime: String(cursor.blockTimeSeconds),
    })
  })
}
