import type { Tx } from '#shared/db/open'
import { pause } from '#shared/deadline'
import type { Cashout } from './cashout.store.ts'
import { endLooks, takeDue } from './look.store.ts'
import { checkPaid, noteRefusal, type Paying, payAgain, payTaken } from './pay.ts'
import { mayArriveLate } from './reason.ts'
import { repeatReturn, repeatTake } from './status.store.ts'

export type Sweeper = AsyncDisposable & {
  /** Says that something may be due now: a take that was just settled is paid at once. */
  readonly poke: () => void
}

/** So many cash-outs are worked on at once by one process. */
const workersMax = 16

/** Works on every cash-out whose time has come: newly taken ones at once, quiet ones again. */
export function startSweeping(
  paying: Paying,
  options: { sweepEveryMs: number; reversalWatchMs: number },
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
      if (!more) await pause(options.sweepEveryMs, AbortSignal.any([stop.signal, wake.signal]))
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
  const quiet = looks > 1 && state !== 'failed' && state !== 'paid'
  if (quiet) paying.log.warn({ payoutId: id, state, looks }, 'cash-out is quiet, looking again')
  try {
    await lookOnce(paying, cashout, reversalWatchMs).catch(async (error) => {
      await noteRefusal(paying, cashout, error)
      throw error
    })
  } catch (error) {
    paying.log.warn({ payoutId: id, state, err: error }, 'cash-out is still unclear')
  }
}

async function lookOnce(paying: Paying, cashout: Cashout, reversalWatchMs: number) {
  switch (cashout.state) {
    case 'taking':
      return orderAgain(paying, cashout, repeatTake)
    case 'taken':
      return payTaken(paying, cashout)
    case 'paying':
      return payAgain(paying, cashout)
    case 'returning':
      return orderAgain(paying, cashout, repeatReturn)
    case 'paid':
      return watchPaid(paying, cashout, reversalWatchMs)
    case 'failed':
      return watchFailed(paying, cashout)
    case 'returned':
      return rest(paying, cashout)
  }
}

async function watchPaid(paying: Paying, cashout: Cashout, reversalWatchMs: number) {
  const paidForMs = Date.now() - (cashout.paidAt ?? cashout.updatedAt).getTime()
  if (paidForMs > reversalWatchMs) return rest(paying, cashout)
  return checkPaid(paying, cashout)
}

/** The relayer watches what was signed; this asks whether its word of a late arrival was lost. */
async function watchFailed(paying: Paying, cashout: Cashout): Promise<void> {
  if (!mayArriveLate(cashout.reason) || isOver(cashout)) return rest(paying, cashout)
  return orderAgain(paying, cashout, repeatTake)
}

/** The relayer tells of a late arrival within minutes of the window's end. */
const overdueMs = 3_600_000
const isOver = ({ authorization }: Cashout) =>
  Number(authorization.validBefore) * 1_000 + overdueMs < Date.now()

/** The relayer knows the payout: it acts once, and says its outcome again. */
async function orderAgain(
  { database, poke }: Paying,
  cashout: Cashout,
  repeat: (tx: Tx, cashout: Cashout) => Promise<void>,
): Promise<void> {
  await database.transaction((tx) => repeat(tx, cashout))
  poke()
}

async function rest({ database }: Paying, cashout: Cashout): Promise<void> {
  await endLooks(database, cashout)
}
