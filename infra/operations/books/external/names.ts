import type { Address } from 'viem'
import { refOf } from '#shared/chain/ref'
import type { BooksContext } from '../context'
import { movesOfKeys } from './chain-move.store'
import { findReadTo, recordRead } from './checkpoint.store'
import { withJournal } from './journal.store'
import { transferKey } from './moves'
import { type Name, recordNames } from './name.store'
import { bookMoves } from './treasury'

/**
 * Reading starts this long before the checkpoint, because a row gets its `changed_at` before its transaction commits.
 */
const overlapMs = 120_000
const rowsMax = 500

type Row = { readonly id: string; readonly at: string }
type Source<R extends Row> = {
  readonly name: string
  /** Returns rows ordered by time and id. */
  readonly next: (at: string, id: string) => Promise<R[]>
  readonly namesOf: (row: R) => Name[]
}

/**
 * Reads the names of the rows that changed since the last reading or, if `whole`, of all rows: those that changed while
 * the clock of Postgres was behind have a time before the last reading.
 */
export async function readNames(context: BooksContext, whole = false): Promise<void> {
  const { sql, place } = context
  await readSource(context, whole, {
    name: 'names:payments',
    next: (at, id) => sql<PaymentRow[]>`
      select id, ref_sequence as "refSequence", ${asText(sql)} as at from payments.payments
      where (changed_at, id) > (${at}::text::timestamptz, ${id}) order by changed_at, id limit ${rowsMax}`,
    namesOf: namesOfPayment,
  })
  await readSource(context, whole, {
    name: 'names:payouts',
    next: (at, id) => sql<CashoutRow[]>`
      select id, authorizer, authorization_nonce as nonce, ausd_micro as ausd, ${asText(sql)} as at
      from payouts.payouts
      where (changed_at, id) > (${at}::text::timestamptz, ${id}) order by changed_at, id limit ${rowsMax}`,
    namesOf: (row) => namesOfCashout(row, place.treasury),
  })
}

/** Selects the time as text, because the driver's dates lose microseconds. */
const asText = (sql: BooksContext['sql']) => sql`changed_at::text`

/** Stores the names of changed rows, and reverses the postings of unexplained transfers that now have a name. */
async function readSource<R extends Row>(context: BooksContext, whole: boolean, source: Source<R>): Promise<void> {
  const { sql, database } = context
  const readTo = whole ? undefined : await database.read((db) => findReadTo(db, source.name))
  const [clock] = await sql<{ now: Date }[]>`select now() as now`
  let at = readTo ? new Date(readTo.getTime() - overlapMs).toISOString() : '-infinity'
  let id = ''
  for (;;) {
    const rows = await source.next(at, id)
    const last = rows.at(-1)
    const names = rows.flatMap(source.namesOf)
    await withJournal(database, async (tx) => {
      await recordNames(tx, names)
      const keys = names.filter(({ kind }) => kind !== 'ref').map(({ key }) => key)
      await bookMoves(tx, { place: context.place, nowMs: context.clock() }, await movesOfKeys(tx, keys))
      if (rows.length < rowsMax) await recordRead(tx, source.name, clock!.now)
    })
    if (!last || rows.length < rowsMax) return
    at = last.at
    id = last.id
  }
}

type PaymentRow = Row & { readonly refSequence: number }
type CashoutRow = Row & {
  readonly authorizer: Address
  readonly nonce: string
  readonly ausd: string
}

const namesOfPayment = ({ id: item, refSequence: last }: PaymentRow): Name[] =>
  Array.from({ length: last + 1 }, (_, refSequence) => ({
    key: refOf(refSequence === 0 ? item : `${item}.${refSequence}`),
    kind: 'ref',
    item,
    refSequence,
  }))

/** Returns the keys of a cash-out: the user's signature for the take, the treasury's for the return. */
const namesOfCashout = ({ id: item, authorizer, nonce, ausd }: CashoutRow, treasury: string): Name[] => [
  { key: transferKey(authorizer, nonce, ausd), kind: 'take', item },
  { key: transferKey(treasury, refOf(`return:${item}`), ausd), kind: 'return', item },
]
