import { claim, type InboxTable, isDone } from '#shared/db/inbox.store'
import { lockNamed } from '#shared/db/lock'
import type { Database, Tx } from '#shared/db/open'
import { bookAll, type JournalTable } from '#shared/ledger/journal.store'
import type { Position } from '#shared/ledger/position'
import type { Log } from '#shared/log'
import { type Loop, startLoop } from '#shared/loop'

// A database may be older than its journal. What its rows stood for by then is posted once, as
// `opening`; after that nothing is, so that a row which was changed by hand shows.

/** The rows of one table, in the order of their ids, each with what it comes to. */
export type Opened = {
  /** At most so many after this id, locked until the transaction ends. */
  readonly next: (
    tx: Tx,
    afterId: string,
    rowsMax: number,
  ) => Promise<ReadonlyMap<string, Position>>
}

type Opening = {
  readonly database: Database
  readonly journal: JournalTable
  readonly inbox: InboxTable
  readonly log: Log
  readonly tables: readonly Opened[]
  /** Rows in one transaction; for suites. */
  readonly rowsMax?: number
}

const consumer = 'books'
const message = 'opening'
const everyMs = 10_000

/** Posts the opening while the service runs, and tries again when the database cannot be asked. */
export function startOpening(opening: Opening): Loop {
  let isOpen = false
  return startLoop({
    ...{ name: 'opening', everyMs, log: opening.log },
    work: async () => {
      if (!isOpen) await openBooks(opening)
      isOpen = true
    },
  })
}

/**
 * Posts what the rows stand for beyond what the journal says of them already, batch by batch, and
 * notes that it is done. Safe beside steps, which lock their row, and beside other copies.
 */
export async function openBooks(opening: Opening): Promise<void> {
  const { database, inbox, log, tables } = opening
  if (await isDone(database, inbox, consumer, message)) return
  let items = 0
  for (const table of tables) {
    let after: string | undefined = ''
    while (after !== undefined) {
      const from: string = after
      const batch = await database.transaction((tx) => openBatch(tx, opening, table, from))
      items += batch.booked
      after = batch.last
    }
  }
  const first = await database.transaction((tx) => claim(tx, inbox, consumer, message))
  if (first) log.info({ items }, 'books opened')
}

async function openBatch(
  tx: Tx,
  { journal, rowsMax = 200 }: Opening,
  { next }: Opened,
  afterId: string,
): Promise<{ booked: number; last: string | undefined }> {
  await lockNamed(tx, `${consumer}:${message}`)
  const rows = await next(tx, afterId, rowsMax)
  const booked = rows.size === 0 ? 0 : await bookAll(tx, journal, 'opening', rows)
  return { booked, last: [...rows.keys()].at(-1) }
}
