import type { TransactionSql } from 'postgres'

/**
 * Range that a comparison covers. Queries contain the times as literals, because only then does PostgreSQL see how
 * small the range is, and use the index.
 */
export type BookSpan = {
  /** Start for rows, journal lines and provider data; `-infinity` covers everything. */
  readonly since: string
  /** Block after which chain movements are compared; earlier ones are in the totals. */
  readonly block: string
  /** End of this run, which is the start of the next one. */
  readonly readTo: string
  readonly readToBlock: string
  /** Times at which chain and provider were last read; null before the first read. */
  readonly chainReadAt: string | null
  readonly providerReadAt: string | null
}

export const checkpoint = 'rows'

/** Time after which every row of a moment is visible: a row has the time of its statement, and commits at most this much later. */
export const commitsWithin = "interval '10 minutes'"

/** Returns the range of the next comparison. It ends before `now` by the time within which rows become visible. */
export async function readSpan(tx: TransactionSql, whole: boolean): Promise<BookSpan> {
  const [found] = await tx<(Omit<BookSpan, 'since' | 'block'> & { since: string; block: string })[]>`
    with source as (
      select min(read_to) filter (where source = 'chain') as chain,
        min(read_to) filter (where source <> 'chain') as provider, min(read_to) as earliest,
        coalesce(min(block), 0) as block
      from books.checkpoints where source in ('chain', 'provider:ID', 'provider:MY')
    ), last as (
      select read_to, block from books.checkpoints where source = ${checkpoint}
    )
    select coalesce((select read_to from last), '-infinity')::text as since,
      coalesce((select block from last), -1)::text as block,
      greatest(
        (select read_to from last),
        least(now(), earliest) - ${tx.unsafe(commitsWithin)}
      )::text as "readTo",
      source.block::text as "readToBlock", chain::text as "chainReadAt",
      provider::text as "providerReadAt"
    from source`
  return whole ? { ...found!, since: '-infinity', block: '-1' } : found!
}

export const moment = (text: string | null): string =>
  text === null ? "'-infinity'::timestamptz" : `'${text}'::timestamptz`
