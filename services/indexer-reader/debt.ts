import { sql } from 'drizzle-orm'
import { type Handler, handler } from '#platform/bus/serve'
import { IndexerDebt } from '#shared/messages/indexer'
import { ok, refuse } from '#shared/refusals'
import type { Context } from './context'
import { cursors, servingOf } from './cursor.store'
import { events } from './event.store'
import { mayAnswer } from './record'
import { cycles } from './record.store'

const daySeconds = 86_400
/** Events that contain the debt after them. */
const ofDebt = ['Drawn', 'Repaid', 'RepaymentRevoked', 'CollateralSeized', 'DefaultMarked']

type Row = {
  readonly state: 'serving'
  readonly complete: boolean
  readonly blockTimeSeconds: number
  readonly movedAt: string
  readonly openedAt: string | null
  readonly before: string | null
  readonly least: string | null
}

export function answerDebt({
  database,
  origin,
  lagMaxMs,
  clock,
}: Pick<Context, 'database' | 'origin' | 'lagMaxMs' | 'clock'>): Handler {
  return handler(IndexerDebt, async ({ wallet }) => {
    const debtAfter = sql`coalesce(${events.args}->>'drawnAfter', ${events.args}->>'stillOwed')::numeric`
    const own = sql`${events.generation} = ${cursors.generation} and ${events.wallet} = ${wallet}
      and ${events.name} = any(${sql.param(ofDebt)})`
    const dayAgo = sql`${cursors.blockTimeSeconds} - ${daySeconds}::bigint`
    const [row] = await database.read((db) =>
      db.execute<Row>(sql`
        select ${cursors.state} as state, ${cursors.complete} as complete,
          ${cursors.blockTimeSeconds}::float8 as "blockTimeSeconds", ${cursors.movedAt} as "movedAt",
          (select ${cycles.openedAtSeconds}::text from ${cycles}
            where ${cycles.generation} = ${cursors.generation} and ${cycles.wallet} = ${wallet}
              and ${cycles.outcome} is null limit 1) as "openedAt",
          (select ${debtAfter} from ${events} where ${own} and ${events.atSeconds} <= ${dayAgo}
            order by ${events.blockNumber} desc, ${events.logIndex} desc limit 1)::text as before,
          (select min(${debtAfter}) from ${events}
            where ${own} and ${events.atSeconds} > ${dayAgo})::text as least
        from ${cursors} where ${servingOf(origin)}`),
    )
    const cursor = row && { ...row, movedAt: new Date(row.movedAt) }
    if (!cursor || !mayAnswer(cursor, lagMaxMs, clock())) return refuse('indexer_lags')
    const before = BigInt(cursor.before ?? 0)
    const least = cursor.least === null ? before : BigInt(cursor.least)
    return ok({
      owedForDay: String(least < before ? least : before),
      openedAt: cursor.openedAt,
      blockTime: String(cursor.blockTimeSeconds),
    })
  })
}
