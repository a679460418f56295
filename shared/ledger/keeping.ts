import { and, eq, isNotNull, notExists } from 'drizzle-orm'
import { claim, type InboxTable, isDone } from '#shared/db/inbox.store'
import { lockNamed } from '#shared/db/lock'
import type { Database, Tx } from '#shared/db/open'
import { bookAll, type JournalTable } from '#shared/ledger/journal.store'
import type { Position } from '#shared/ledger/position'
import type { Log } from '#shared/log'
import { type Loop, startLoop } from '#shared/loop'

// Postings of a service other than those of its steps. The rows of a database older than its
// journal are booked once, as `opening`. After an operator reverses a posting, the item is booked
// again as its row is now. Nothing else is booked, so a manually changed row shows as a difference.

/** The rows of one table in id order, each with its position. */
export type BookedTable = {
  /** Returns up to `rowsMax` rows after this id, locked until the end of the transaction. */
  readonly next: (
    tx: Tx,
    afterId: string,
    rowsMax: number,
  ) => Promise<ReadonlyMap<string, Position>>
  /** Returns the position of one item and locks its row; undefined if it is not in this table. */
  readonly find: (tx: Tx, item: string) => Promise<Position | undefined>
}

type Keeping = {
  readonly database: Database
  readonly journal: JournalTable
  readonly inbox: InboxTable
  readonly log: Log
  readonly tables: readonly BookedTable[]
  /** Rows per transaction; for tests. */
  readonly rowsMax?: number
}

const consumer = 'books'
const message = 'opening'
const everyMs = 5_000

/** Keeps the books of a service while it runs. */
export function startKeeping(keeping: Keeping): Loop {
  let isOpen = false
  return startLoop({
    ...{ name: 'books', everyMs, log: keeping.log },
    work: async () => {
      if (!isOpen) await bookOpening(keeping)
      isOpen = true
      await bookCorrected(keeping)
    },
  })
}

/**
 * Books the opening balances: the position of each row beyond its journal, in batches, once per
 * database. Safe alongside steps, which lock their row, and alongside other instances.
 */
export async function bookOpening(keeping: Keeping): Promise<void> {
  const { database, inbox, log, tables } = keeping
  if (await isDone(database, inbox, consumer, message)) return
  let items = 0
  for (const table of tables) {
    let after: string | undefined = ''
    while (after !== undefined) {
      const from: string = after
      const batch = await database.transaction((tx) => openBatch(tx, keeping, table, from))
      items += batch.booked
      after = batch.last
    }
  }
  const first = await database.transaction((tx) => claim(tx, inbox, consumer, message))
  if (first) log.info({ items }, 'opening balances booked')
}

async function openBatch(
  tx: Tx,
  { journal, rowsMax = 200 }: Keeping,
  { next }: BookedTable,
  afterId: string,
): Promise<{ booked: number; last: string | undefined }> {
  await lockNamed(tx, `${consumer}:${message}`)
  const rows = await next(tx, afterId, rowsMax)
  const booked = rows.size === 0 ? 0 : await bookAll(tx, journal, 'opening', rows)
  return { booked, last: [...rows.keys()].at(-1) }
}

/** Books items again after a posting of theirs was reversed, once per reversal. */
export async function bookCorrected(keeping: Keeping): Promise<void> {
  const { database, journal, inbox, log, tables } = keeping
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
      for (const { find } of tables) {
        const wanted = await find(tx, one.item)
        if (wanted) await bookAll(tx, journal, 'booked anew', new Map([[one.item, wanted]]))
      }
      log.info(one, 'item booked again after reversal')
    })
}
