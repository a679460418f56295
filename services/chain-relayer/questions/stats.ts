import { countDead } from '#shared/db/dead-letter.store'
import { outboxLag } from '#shared/db/outbox.store'
import type { Context } from '../context'
import { lanes } from '../lanes/lane.store'
import { countOpen, countWatched } from '../operations/operation.store'
import { deadLetters, outbox } from '../schema.store'

/** The true figures of the relayer, for `nats micro stats`: from the rows, not from counters. */
export const statsOf =
  ({ database, node }: Context) =>
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
