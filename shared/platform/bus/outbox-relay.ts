import { openMarks } from '#platform/bus/marks'
import type { Bus } from '#platform/bus/open'
import { publish } from '#platform/bus/publish'
import type { Database } from '#platform/db/open'
import { type Announced, lease, markPublished, type OutboxTable } from '#platform/db/outbox.store'
import { failpoint } from '#platform/failpoint'
import type { Log } from '#platform/log'
import { idle, type Loop, startLoop } from '#platform/loop'

const againMs = 500
const pollMs = 5_000
const rowsMax = 100

type Message = Announced['message']

/**
 * Publishes messages of this process from memory right after their commit, and all others by polling. `poke` publishes
 * the former within the turn of the event loop.
 */
export function relayOutbox(options: { bus: Bus; database: Database; outbox: OutboxTable; log: Log }): Loop {
  const { bus, database, outbox, log } = options
  // Well within the lease of a new row. A crash before causes a duplicate, never a loss.
  const sent = openMarks((ids: readonly string[]) =>
    markPublished(database, outbox, ids).catch((error) => log.warn({ err: error }, 'outbox mark failed, will resend')),
  )
  const sending = new Set<Promise<void>>()
  let committed: Message[] = []

  const send = async (messages: readonly Message[]): Promise<void> => {
    const tried = await Promise.allSettled(
      messages.map(async (message) => {
        // guard: a message is noted as sent after the broker confirmed it
        const published = await publish(bus, message)
        if (published === 'stored') failpoint(`${bus.name}:published:${message.subject}`)
        sent.mark(message.id)
      }),
    )
    const failed = tried.find((result) => result.status === 'rejected')
    if (failed) throw failed.reason
  }
  const sendCommitted = (): void => {
    if (committed.length === 0) return
    const messages = committed
    committed = []
    const work = send(messages)
      .catch((error) => log.warn({ err: error }, 'outbox publish failed, will retry'))
      .finally(() => sending.delete(work))
    sending.add(work)
  }
  database.listen((announcement) => {
    const { outbox: of, message } = announcement as Announced
    if (of !== outbox) return
    if (committed.length === 0) setImmediate(sendCommitted)
    committed.push(message)
  })

  const sendSome = async (): Promise<number> => {
    const rows = await lease(database, outbox, rowsMax)
    await send(rows)
    return rows.length
  }
  const work = async (signal: AbortSignal) => {
    let count = await sendSome()
    while (count === rowsMax && !signal.aborted) count = await sendSome()
    return count === 0 ? idle : undefined
  }
  const poll = startLoop({ name: 'outbox', everyMs: againMs, idleMs: pollMs, log, work })
  return {
    poke: sendCommitted,
    [Symbol.asyncDispose]: async () => {
      await poll[Symbol.asyncDispose]()
      sendCommitted()
      await Promise.all(sending)
      await sent.flush()
    },
  }
}
