import type { TransactionSql } from 'postgres'

/**
 * What one reconciliation looks at. The moments stand as literals in every query: only so does
 * PostgreSQL see how little is asked for, and takes the index.
 */
export type Span = {
  /** Rows, lines and listings from here on; `-infinity`: all there ever was. */
  readonly since: string
  /** Moves of the chain after this block; those up to it are in the totals. */
  readonly block: string
  /** Up to where everything is known when this one is done: where the next one begins. */
  readonly readTo: string
  /** The last block of which every move has been read. */
  readonly readToBlock: string
  /** When the chain and the provider were last read; null: never, so nothing is said of them. */
  readonly chainReadAt: string | null
  readonly providerReadAt: string | null
}

/** The name of the checkpoint of the comparison among those of the sources. */
export const checkpoint = 'rows'

/**
 * Where the last reconciliation ended; from the beginning when there was none, or `whole`. Lines and
 * rows carry the time of their statement and show when they commit, which none does ten minutes later.
 */
export async function readSpan(tx: TransactionSql, whole: boolean): Promise<Span> {
  const [found] = await tx<(Omit<Span, 'since' | 'block'> & { since: string; block: string })[]>`
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

/** A moment as SQL; no row is older than what was never read. */
export const moment = (text: string | null): string =>
  text === null ? "'-infinity'::timestamptz" : `'${text}'::timestamptz`
