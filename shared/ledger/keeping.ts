import { and, eq, isNotNull, notExists } from 'drizzle-orm'
import { claim, type InboxTable } from '#platform/db/inbox.store'
import type { Database, Tx } from '#platform/db/open'
import type { Log } from '#platform/log'
import { type Loop, startLoop } from '#platform/loop'
import { bookedAgain } from '#shared/ledger/corrections'
import { bookAll, type JournalTable } from '#shared/ledger/journal.store'
import type { Position } from '#shared/ledger/position'

/** Locks the row of an item; undefined if its table has no such item. */
export type FindPosition = (tx: Tx, item: string) => Promise<Position | undefined>

type Keeping = {
  readonly database: Database
  readonly journal: JournalTable
  readonly inbox: InboxTable
  readonly log: Log
  /** One function for each table whose rows are booked. */
  readonly positions: readonly FindPosition[]
}

const consumer = 'books'
/** Interval in ms. Only an operator reverses a posting, and nothing waits for it to be booked again. */
const everyMs = 30_000

export const startKeeping = (keeping: Keeping): Loop =>
  startLoop({
    name: 'books',
    everyMs,
    log: keeping.log,
    work: () => bookCorrected(keeping),
  })

/**
 * Books items again, according to their present rows, after a posting of theirs was reversed. It does so once per
 * reversal.
 */
export async function bookCorrected(keeping: Keeping): Promise<void> {
  const { database, journal, inbox, log, positions } = keeping
  const { posting, item, line, reverses } = journal
  const corrected = await database.read((db) => {
    const done = db
      .select({ id: inbox.messageId })
      .from(inbox)
      .where(and(eq(inbox.consumer, consumer), eq(inbox.messageId, posting)))
    const isReversal = and(isNotNull(reverses), eq(line, 0), notExists(done))
    return db.select({ posting, item }).from(journal).where(isReversal).limit(100)
  })
  for (const one of corrected)
    await database.transaction(async (tx) => {
      if (!(await claim(tx, inbox, consumer, one.posting))) return
      for (const find of positions) {
        const wanted = await find(tx, one.item)
        if (wanted) await bookAll(tx, journal, bookedAgain, new Map([[one.item, wanted]]))
      }
      log.info(one, 'item booked again after reversal')
    })
}
