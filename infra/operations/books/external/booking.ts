import type { Tx } from '#platform/db/open'
import { book } from '#shared/ledger/journal.store'
import { difference, type Position } from '#shared/ledger/position'
import { journal } from '../schema.store'
import { type BookedMove, bookedOn, standingPostings } from './journal.store'

export type WantedBooking = { readonly event: string; readonly lines: Position }

/**
 * Books the difference between an item's postings and its wanted position; an empty position reverses the postings.
 * Call it within `withJournal`, so that a second instance, or a repeat after a kill, books nothing twice.
 */
export async function bookItems(
  tx: Tx,
  items: readonly string[],
  wantedOf: (item: string, booked: BookedMove) => WantedBooking | undefined,
): Promise<void> {
  const booked = await bookedOn(tx, items)
  for (const item of items) {
    const before = booked.get(item) ?? { lines: [], isAccepted: false }
    const wanted = wantedOf(item, before)
    if (!wanted) continue
    const { event, lines } = wanted
    if (lines.length > 0) await book(tx, journal, { event, item, lines: difference(before.lines, lines) })
    else if (booked.has(item)) await reverse(tx, item, event)
  }
}

async function reverse(tx: Tx, item: string, event: string): Promise<void> {
  for (const [reverses, lines] of await standingPostings(tx, item)) {
    const back = lines.map(({ account, asset, amount }) => ({ account, asset, amount: -amount }))
    await book(tx, journal, { event, item, lines: back, reverses })
  }
}
