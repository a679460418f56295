import { eq, inArray, sql } from 'drizzle-orm'
import { lockNamed } from '#platform/db/lock'
import type { Database, Tx } from '#platform/db/open'
import type { JournalLine } from '#shared/ledger/position'
import { journal } from '../schema.store'

/**
 * Runs `work` in a transaction, one at a time across instances. The lock is the first statement, so `work` reads
 * everything that earlier ones wrote.
 */
export const withJournal = <T>(database: Database, work: (tx: Tx) => Promise<T>): Promise<T> =>
  database.transaction(async (tx) => {
    lockNamed(tx, 'books:journal')
    return work(tx)
  })

/** `isAccepted`: an operator accepted the item as capital, and the posting was not reversed. */
export type BookedMove = { readonly lines: JournalLine[]; readonly isAccepted: boolean }

export const acceptedEvent = 'accepted as capital'

const isStandingAcceptance = sql<boolean>`starts_with(${journal.event}, ${acceptedEvent})
  and not exists (select from books.journal back where back.reverses = books.journal.posting)`

export async function bookedOn(tx: Tx, items: readonly string[]): Promise<Map<string, BookedMove>> {
  if (items.length === 0) return new Map()
  const rows = await tx
    .select({
      item: journal.item,
      account: journal.account,
      asset: journal.asset,
      amount: sql<string>`sum(${journal.amount})::text`,
      isAccepted: sql<boolean>`bool_or(${isStandingAcceptance})`,
    })
    .from(journal)
    .where(inArray(journal.item, [...items]))
    .groupBy(journal.item, journal.account, journal.asset)
  const byItem = Map.groupBy(rows, ({ item }) => item)
  return new Map(
    [...byItem].map(([item, own]) => [
      item,
      {
        lines: own.map(({ account, asset, amount }) => ({
          account,
          asset,
          amount: BigInt(amount),
        })),
        isAccepted: own.some(({ isAccepted }) => isAccepted),
      },
    ]),
  )
}

export async function standingPostings(tx: Tx, item: string): Promise<Map<string, JournalLine[]>> {
  const rows = await tx.select().from(journal).where(eq(journal.item, item))
  const reversed = new Set(rows.map(({ reverses }) => reverses))
  const standing = rows.filter(({ posting, reverses }) => !reverses && !reversed.has(posting))
  return Map.groupBy(standing, ({ posting }) => posting)
}
