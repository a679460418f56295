import type { TransactionSql } from 'postgres'

/**
 * Range of one reconciliation. Queries contain the times as literals: only then does PostgreSQL see
 * how small the range is, and use the index.
 */
export type BookSpan = {
  /** Start time for rows, journal lines and provider data; `-infinity`: everything. */
  readonly since: string
  /** Chain movements after this block are compared; earlier ones are in the totals. */
  readonly block: string
  /** Time up to which this run covers everything: start of the next one. */
  readonly readTo: string
  /** Last block whose movements have been read. */
  readonly readToBlock: string
  /** Times of the last reads of chain and provider; null if never read. */
  readonly chainReadAt: string | null
  readonly providerReadAt: string | null
}

/** Name of the comparison's checkpoint. */
export const checkpoint = 'rows'

/**
 * Returns the range since the last reconciliation, or from the beginning if there was none or
 * `whole`. Rows carry the time of their statement but become visible at commit, at most ten minutes
 * later.
 */
export async function readSpan(tx: TransactionSql, whole: boolean): Promise<BookSpan> {
  const [found] = await tx<
    (Omit<BookSpan, 'since' | 'block'> & { since: string; block: string })[]
  >`
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
        least(now(), earliest) - interval '10 minutes'
      )::text as "readTo",
      source.block::text as "readToBlock", chain::text as "chainReadAt",
      provider::text as "providerReadAt"
    from source`
  return whole ? { ...found!, since: '-infinity', block: '-1' } : found!
}

/** Returns a time as SQL; null becomes `-infinity`. */
export const moment = (text: string | null): string =>
  text === null ? "'-infinity'::timestamptz" : `'${text}'::timestamptz`
