import type { Bus } from '#shared/bus/open'
import { publish } from '#shared/bus/publish'
import type { Database } from '#shared/db/open'
import { lease, markPublished, type OutboxTable } from '#shared/db/outbox.store'
import type { Log } from '#shared/log'
import { idle, type Loop, startLoop } from '#shared/loop'

/** What could not be sent is tried again so soon. */
const againMs = 500
/** A poke only saves the wait; the poll is what guarantees that every row is sent. */
const pollMs = 3_000
const rowsMax = 100

/**
 * Publishes what transactions announced: lease, publish, await the confirmation, mark. Poke it when
 * a transaction with messages committed.
 */
export function relayOutbox(options: {
  bus: Bus
  database: Database
  outbox: OutboxTable
  log: Log
}): Loop {
  const { bus, database, outbox, log } = options
  const sendSome = async (): Promise<number> => {
    const rows = await lease(database, outbox, rowsMax)
    const sent = await Promise.allSettled(rows.map((row) => publish(bus, row).then(() => row.id)))
    const ids = sent.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    if (ids.length > 0) await markPublished(database, outbox, ids)
    const failed = sent.find((result) => result.status === 'rejected')
    if (failed) throw failed.reason
    return rows.length
  }
  const work = async (signal: AbortSignal) => {
    let sent = await sendSome()
    while (sent === rowsMax && !signal.aborted) sent = await sendSome()
    return sent === 0 ? idle : undefined
  }
  return startLoop({ name: 'outbox', everyMs: againMs, idleMs: pollMs, log, work })
}
