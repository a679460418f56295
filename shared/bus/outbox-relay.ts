import type { Bus } from '#shared/bus/open'
import { publish } from '#shared/bus/publish'
import type { Database } from '#shared/db/open'
import { lease, markPublished, type OutboxTable } from '#shared/db/outbox.store'
import { pause } from '#shared/deadline'
import type { Log } from '#shared/log'

/** A poke only saves the wait; the poll is what guarantees that every row is sent. */
const pollMs = 500
const rowsMax = 100

export type OutboxRelay = AsyncDisposable & {
  /** Says that a transaction with messages committed. */
  readonly poke: () => void
}

/** Publishes what transactions announced: lease, publish, await the confirmation, mark. */
export function relayOutbox(options: {
  bus: Bus
  database: Database
  outbox: OutboxTable
  log: Log
}): OutboxRelay {
  const { bus, database, outbox, log } = options
  const stop = new AbortController()
  let wake = new AbortController()

  const drain = async (): Promise<boolean> => {
    const rows = await lease(database, outbox, rowsMax)
    const sent = await Promise.allSettled(rows.map((row) => publish(bus, row).then(() => row.id)))
    const ids = sent.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    if (ids.length > 0) await markPublished(database, outbox, ids)
    const failed = sent.find((result) => result.status === 'rejected')
    if (failed) throw failed.reason
    return rows.length === rowsMax
  }

  const loop = async () => {
    while (!stop.signal.aborted) {
      wake = new AbortController()
      const more = await drain().catch((error) => {
        log.warn({ err: error }, 'outbox could not be sent')
        return false
      })
      if (!more) await pause(pollMs, AbortSignal.any([stop.signal, wake.signal]))
    }
  }
  const ended = loop()
  return {
    poke: () => wake.abort(),
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await ended
    },
  }
}
