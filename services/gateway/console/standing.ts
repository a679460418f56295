import type { Sql } from 'postgres'
import { listsRead } from '#shared/standing/lists'
import type { ListRead } from '#shared/standing/needs'
import { listPaused, type Paused } from '#shared/standing/pauses'
import { unexplainedMoves } from '#shared/standing/unexplained'

/** Alerts read from the database that no service reports in its figures. */
export type Standing = {
  /** Operator pauses, the oldest first. */
  readonly pauses: readonly Paused[]
  /** Open breaks without an owner; `old` ones exceed the grace period of every rule. */
  readonly breaks: { readonly old: number; readonly young: number; readonly oldestMs: number }
  /** Time since the books were last compared; null if never. */
  readonly comparedMsAgo: number | null
  /** AUSD received by the treasury that matches no operation. */
  readonly unexplained: {
    readonly count: number
    readonly ausdMicro: string
    readonly oldestMs: number
  }
  /** The provider's transaction lists, and consecutive read failures of each. */
  readonly lists: readonly ListRead[]
}

/** Reads the alerts from the database. */
export async function readStanding(sql: Sql): Promise<Standing> {
  const [pauses, breaks, compared, unexplained, lists] = await Promise.all([
    listPaused(sql),
    breaksOf(sql),
    comparedOf(sql),
    unexplainedOf(sql),
    listsRead(sql),
  ])
  return {
    pauses,
    breaks: breaks[0]!,
    comparedMsAgo: compared[0]!.ms,
    unexplained: unexplained[0]!,
    lists,
  }
}

const msSince = (sql: Sql, at: string) =>
  sql.unsafe(`(extract(epoch from now() - ${at}) * 1000)::float8`)

/** Longest grace period of any rule; the grace period of each rule is known only to the books. */
const graceMax = '15 minutes'

const breaksOf = (sql: Sql) => sql<Standing['breaks'][]>`
  select count(*) filter (where found_at < now() - ${graceMax}::interval)::int as old,
    count(*) filter (where found_at >= now() - ${graceMax}::interval)::int as young,
    coalesce(${msSince(sql, 'min(found_at)')}, 0) as "oldestMs"
  from books.breaks where closed_at is null and (rests_until is null or rests_until < now())`

const comparedOf = (sql: Sql) => sql<{ ms: number | null }[]>`
  select ${msSince(sql, 'max(ended_at)')} as ms from books.runs`

/** How long the row that explains a transfer may be delayed. */
const namedWithin = '2 minutes'

/** Unexplained transfers older than that, except those an operator has muted. */
const unexplainedOf = (sql: Sql) => sql<Standing['unexplained'][]>`
  select count(*)::int as count, coalesce(sum(ausd_micro), 0)::text as "ausdMicro",
    coalesce(${msSince(sql, 'min(moved_at)')}, 0) as "oldestMs"
  from (${unexplainedMoves(sql)}) m
  where m.moved_at < now() - ${namedWithin}::interval
    and not exists (
      select from books.breaks b
      where b.item = m.name and b.closed_at is null and b.rests_until > now())`
