import type { Sql } from 'postgres'
import { listsRead } from '#shared/standing/lists'
import type { ListRead } from '#shared/standing/needs'
import { listPaused, type Paused } from '#shared/standing/pauses'
import { unexplainedMoves } from '#shared/standing/unexplained'

/** What waits for a person by the rows, and that no service tells with its figures. */
export type Standing = {
  /** What an operator stopped, the longest first. */
  readonly pauses: readonly Paused[]
  /** Open and looked after by nobody: `old` ones are beyond the grace of every rule. */
  readonly breaks: { readonly old: number; readonly young: number; readonly oldestMs: number }
  /** Since the books were last compared; null: they never were. */
  readonly comparedMsAgo: number | null
  /** AUSD that came to the treasury for nothing of ours. */
  readonly unexplained: {
    readonly count: number
    readonly ausdMicro: string
    readonly oldestMs: number
  }
  /** The provider's lists of transactions, and how often each failed since it was last read. */
  readonly lists: readonly ListRead[]
}

/** Reads only. */
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

/** The longest grace of a rule of the books; which rule has which, the books alone know. */
const graceMax = '15 minutes'

const breaksOf = (sql: Sql) => sql<Standing['breaks'][]>`
  select count(*) filter (where found_at < now() - ${graceMax}::interval)::int as old,
    count(*) filter (where found_at >= now() - ${graceMax}::interval)::int as young,
    coalesce(${msSince(sql, 'min(found_at)')}, 0) as "oldestMs"
  from books.breaks where closed_at is null and (rests_until is null or rests_until < now())`

const comparedOf = (sql: Sql) => sql<{ ms: number | null }[]>`
  select ${msSince(sql, 'max(ended_at)')} as ms from books.runs`

/** So long its own row may be on its way. */
const namedWithin = '2 minutes'

/** What is old enough, without what somebody looks after until a day. */
const unexplainedOf = (sql: Sql) => sql<Standing['unexplained'][]>`
  select count(*)::int as count, coalesce(sum(ausd_micro), 0)::text as "ausdMicro",
    coalesce(${msSince(sql, 'min(moved_at)')}, 0) as "oldestMs"
  from (${unexplainedMoves(sql)}) m
  where m.moved_at < now() - ${namedWithin}::interval
    and not exists (
      select from books.breaks b
      where b.item = m.name and b.closed_at is null and b.rests_until > now())`
