import { countDead } from '#shared/db/dead-letter.store'
import { outboxLag } from '#shared/db/outbox.store'
import { countOpen } from './in-flight.store'
import { lanes } from './lane.store'
import type { Relayer } from './relayer'
import { deadLetters, outbox } from './schema.store'
import { countWatched } from './watch.store'

/** The true figures of the relayer, for `nats micro stats`: from the rows, not from counters. */
export const relayerStats =
  ({ database, node }: Relayer) =>
  async () => {
    const [open, watched, lag, dead, rows] = await Promise.all([
      database.read(countOpen),
      database.read(countWatched),
      outboxLag(database, outbox),
      countDead(database, deadLetters),
      database.read((db) => db.select().from(lanes)),
    ])
    const balances = await Promise.all(
      rows.map(({ address }) => node.reader.getBalance({ address }).catch(() => null)),
    )
    const laneFigures = rows.map(({ address, nextNonce, fault }, position) => {
      const balanceWei = balances[position] ?? null
      return {
        address,
        nextNonce,
        fault,
        balanceWei: balanceWei === null ? null : String(balanceWei),
      }
    })
    return { operations: { ...open, watched }, outbox: lag, deadLetters: dead, lanes: laneFigures }
  }
