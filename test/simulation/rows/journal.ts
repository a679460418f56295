import { difference, type Position, position, unbalanced } from '#shared/ledger/position'
import type { WrittenBeside } from './messaging'
import { type Rows, rowsOf } from './rows'
import { nothing, type StandIn } from './table'

// This journal keeps only each item's resulting position.

type Journal = typeof import('#shared/ledger/journal.store')
type Posting = Parameters<Journal['book']>[2]

export const bookedOf = (rows: Rows, journal: object, item: string): Position =>
  rows.of<Position>(journal).get(item) ?? []

function bookIn(rows: Rows, journal: object, { event, item, lines }: Posting): void {
  const wrong = unbalanced(lines)
  if (wrong.length > 0) throw new Error(`${event} of ${item} does not balance in ${wrong}`)
  if (lines.length === 0) return
  rows.of<Position>(journal).set(item, position([...bookedOf(rows, journal, item), ...lines]))
}

export const book: StandIn<Journal['book']> = async (tx, journal, posting) => bookIn(rowsOf(tx), journal, posting)

export const bookWith: (...given: Parameters<Journal['bookWith']>) => ReturnType<Journal['bookWith']> = (
  journal,
  posting,
) => {
  const wrong = unbalanced(posting.lines)
  if (wrong.length > 0) throw new Error(`${posting.event} does not balance in ${wrong}`)
  if (posting.lines.length === 0) return undefined
  const write: WrittenBeside = (rows) => bookIn(rows, journal, posting)
  return write as never
}

export const lockItem: StandIn<Journal['lockItem']> = async () => nothing

export const isBooked: StandIn<Journal['isBooked']> = async (tx, journal, item) =>
  bookedOf(rowsOf(tx), journal, item).length > 0

export const bookTo: StandIn<Journal['bookTo']> = async (tx, journal, { event, item, lines }) => {
  const rows = rowsOf(tx)
  const missing = difference(bookedOf(rows, journal, item), lines)
  bookIn(rows, journal, { event, item, lines: missing })
}

export const findBalances: StandIn<Journal['findBalances']> = async (db, journal, of) => {
  const rows = rowsOf(db)
  const balance = (item: string) =>
    bookedOf(rows, journal, item).find(({ account, asset }) => account === of.account && asset === of.asset)
  return new Map(of.items.map((item) => [item, balance(item)?.amount ?? 0n]))
}

export function totalsOf(rows: Rows, journal: object): ReadonlyMap<string, bigint> {
  const totals = new Map<string, bigint>()
  for (const lines of rows.of<Position>(journal).values())
    for (const { account, asset, amount } of lines) {
      const name = `${account} ${asset}`
      totals.set(name, (totals.get(name) ?? 0n) + amount)
    }
  return totals
}
