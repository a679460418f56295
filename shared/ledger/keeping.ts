import { and, eq, isNotNull, notExists } from 'drizzle-orm'
import { claim, type InboxTable, isDone } from '#shared/db/inbox.store'
import { lockNamed } from '#shared/db/lock'
import type { Database, Tx } from '#shared/db/open'
import { bookAll, type JournalTable } from '#shared/ledger/journal.store'
import type { Position } from '#shared/ledger/position'
import type { Log } from '#shared/log'
import { type Loop, startLoop } from '#shared/loop'

// What a service posts besides its steps. A database may be older than its journal: what its rows stood
// for by then is posted once, as `opening`. And when a person took a posting back, what the item's row
// says now is posted anew. Nothing else is, so that a row which was changed by hand shows.

/** The rows of one table, in the order of their ids, each with what it comes to. */
export type BookedTable = {
  /** At most so many after this id, locked until the transaction ends. */
  readonly next: (
    tx: Tx,
    afterId: string,
    rowsMax: number,
  ) => Promise<ReadonlyMap<string, Position>>
  /** What one item comes to, its row locked; undefined when it is none of these. */
  readonly find: (tx: Tx, item: string) => Promise<Position | undefined>
}

type Keeping = {
  readonly database: Database
  readonly journal: JournalTable
  readonly inbox: InboxTable
  readonly log: Log
  readonly tables: readonly BookedTable[]
  /** Rows in one transaction; for suites. */
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
 * Posts what the rows stand for beyond what the journal says of them already, batch by batch, and
 * notes that it is done. Safe beside steps, which lock their row, and beside other copies.
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
  if (first) log.info({ items }, 'books opened')
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

/** Posts anew what the items of postings that a person took back come to, once for each reversal. */
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
      log.info(one, 'item booked anew')
    })
}
