import { announceAgain } from '#shared/db/outbox.store'
import { pause } from '#shared/deadline'
import { ReturnOrdered, TakeOrdered } from '#shared/messages/relay'
import type { Topic } from '#shared/messages/topic'
import type { Cashout } from './cashout.store.ts'
import { noteCashout } from './cashout.store.ts'
import { takeDue } from './look.store.ts'
import { checkPaid, type Paying, payAgain, payTaken } from './pay.ts'
import { outbox } from './schema.store.ts'
import { messageIdOf } from './status.store.ts'

export type Sweeper = AsyncDisposable & {
  /** Says that something may be due now: a take that was just settled is paid at once. */
  readonly poke: () => void
}

/** So many cash-outs are worked on at once by one process. */
const workersMax = 16

/** Works on every cash-out whose time has come: newly taken ones at once, quiet ones again. */
export function startSweeping(
  paying: Paying,
  options: { everyMs: number; reversalWatchMs: number },
): Sweeper {
  const stop = new AbortController()
  let wake = new AbortController()
  const working = new Set<Promise<void>>()

  const round = async (): Promise<boolean> => {
    const free = workersMax - working.size
    if (free === 0) return false
    const due = await takeDue(paying.database, free, paying.sweepAfterMs)
    for (const cashout of due) {
      const work = lookAt(paying, cashout, options.reversalWatchMs).finally(() => {
        working.delete(work)
        if (working.size === workersMax - 1) wake.abort()
      })
      working.add(work)
    }
    return due.length > 0
  }
  const loop = async () => {
    while (!stop.signal.aborted) {
      wake = new AbortController()
      const more = await round().catch((error) => {
        paying.log.warn({ err: error }, 'sweep failed')
        return false
      })
      if (!more) await pause(options.everyMs, AbortSignal.any([stop.signal, wake.signal]))
    }
    await Promise.all(working)
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

async function lookAt(paying: Paying, cashout: Cashout, reversalWatchMs: number): Promise<void> {
  const { id, state, looks } = cashout
  if (looks > 1) paying.log.warn({ payoutId: id, state, looks }, 'cash-out is quiet, looking again')
  try {
    await lookOnce(paying, cashout, reversalWatchMs)
  } catch (error) {
    paying.log.warn({ payoutId: id, state, err: error }, 'cash-out is still unclear')
  }
}

async function lookOnce(paying: Paying, cashout: Cashout, reversalWatchMs: number) {
  switch (cashout.state) {
    case 'taking':
      return orderAgain(paying, TakeOrdered, cashout.id)
    case 'taken':
      return payTaken(paying, cashout)
    case 'paying':
      return payAgain(paying, cashout)
    case 'returning':
      return orderAgain(paying, ReturnOrdered, cashout.id)
    case 'paid':
      return watchPaid(paying, cashout, reversalWatchMs)
    case 'failed':
    case 'returned':
      return rest(paying, cashout.id)
  }
}

async function watchPaid(paying: Paying, cashout: Cashout, reversalWatchMs: number) {
  const paidForMs = Date.now() - (cashout.paidAt ?? cashout.updatedAt).getTime()
  if (paidForMs > reversalWatchMs) return rest(paying, cashout.id)
  return checkPaid(paying, cashout)
}

/** Under its old id, so that the relayer knows it and says its outcome again. */
async function orderAgain({ database, poke }: Paying, topic: Topic, id: string): Promise<void> {
  await database.read((db) => announceAgain(db, outbox, [messageIdOf(topic, id)]))
  poke()
}

async function rest({ database }: Paying, id: string): Promise<void> {
  await database.read((db) => noteCashout(db, id, { lookAt: null }))
}
