import { expect } from 'bun:test'
import { eq } from 'drizzle-orm'
import { type Position, position } from '#shared/ledger/position'
import { journal } from '../schema.store'
import type { Fixture } from '../test-support'
import { positionOf } from './position'

const byName = (lines: Position) =>
  Object.fromEntries(lines.map(({ account, asset, amount }) => [`${account} ${asset}`, amount]))

export function booksOf(fixture: Fixture) {
  const readBooks = async (item: string) => {
    const isOfItem = eq(journal.item, item)
    const lines = fixture.database.read((db) => db.select().from(journal).where(isOfItem))
    return byName(position(await lines))
  }
  return {
    readBooks: readBooks,
    /** Checks that the journal equals the position of the row. */
    booked: async (id: string) => {
      const said = await readBooks(id)
      expect(said).toEqual(byName(positionOf((await fixture.row(id))!)))
      return said
    },
  }
}
