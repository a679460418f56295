import type { Tx } from '#platform/db/open'
import { type Loop, startLoop } from '#platform/loop'
import { withRequestId } from '#platform/request-id'
import { inSpan } from '#platform/tracing/spans'
import { type DueCashout, endChecks, leaseDue } from '../cashout.store'
import type { Cashout } from '../cashout.table'
import type { Context } from '../context'
import { isWorthAsking, lateMs, mayArriveLate } from '../decide'
import { expire, repeatReturn, repeatTake } from '../onchain/advance'
import { payAgain, payTaken, recordRefusal } from '../paying/pay'

const workingMax = 16

/** Starts the rounds of rechecks, which may overlap. New cash-outs are due at once, others at growing intervals. */
export function startRechecking(context: Context, settings: { recheckEveryMs: number }): Loop {
  const working = new Set<Promise<void>>()
  /** Returns true if more may be due than there was room for. */
  const round = async (): Promise<boolean> => {
    const free = workingMax - working.size
    if (free === 0) return false
    const due = await context.database.run((db) => leaseDue(db, free, context.recheckAfterMs))
    for (const cashout of due) {
      const work = underItsRequest(context, cashout).finally(() => {
        working.delete(work)
        if (working.size === workingMax - 1) loop.poke()
      })
      working.add(work)
    }
    return due.length === free
  }
  const loop = startLoop({
    name: 'recheck',
    everyMs: settings.recheckEveryMs,
    log: context.log,
    // Checks may end during a round, which then leaves room that no later end of a check would report.
    work: async (signal) => {
      let more = true
      while (more && !signal.aborted) more = await round()
    },
  })
  return {
    poke: loop.poke,
    [Symbol.asyncDispose]: async () => {
      await loop[Symbol.asyncDispose]()
      await Promise.all(working)
    },
  }
}

const underItsRequest = (context: Context, cashout: DueCashout): Promise<void> =>
  withRequestId(cashout.requestId ?? undefined, () =>
    inSpan(`cashout ${cashout.state} checked`, { attributes: { 'payout.id': cashout.id } }, () =>
      checkOrLog(context, cashout),
    ),
  )

async function checkOrLog(context: Context, cashout: DueCashout): Promise<void> {
  const { id, state, checks } = cashout
  const { log } = context
  const quiet = checks > 1 && state !== 'failed' && state !== 'paid'
  if (quiet) log.warn({ payoutId: id, state, checks }, 'no update on cash-out, rechecking')
  try {
    await check(context, cashout).catch(async (error) => {
      await recordRefusal(context, cashout, error)
      throw error
    })
  } catch (error) {
    log.warn({ payoutId: id, state, err: error }, 'cash-out status check failed')
  }
}

async function check(context: Context, cashout: DueCashout): Promise<void> {
  switch (cashout.state) {
    case 'opening':
      return expire(context, cashout.id)
    case 'taking':
      return orderAgain(context, cashout, repeatTake)
    case 'taken':
      return payTaken(context, cashout, { isLate: isLate(cashout) })
    case 'paying':
      return payAgain(context, cashout)
    case 'returning':
      return orderAgain(context, cashout, repeatReturn)
    case 'paid':
      return mayBeReversed(context, cashout) ? payAgain(context, cashout) : rest(context, cashout)
    case 'failed':
      // Resending the take recovers the report of a late arrival that was lost. The last check asks too: it may be a day after
      // the one before.
      if (mayArriveLate(cashout.reason)) await orderAgain(context, cashout, repeatTake)
      return isWorthAsking(cashout, cashout.leasedAt.getTime()) ? undefined : rest(context, cashout)
    case 'returned':
    case 'expired':
      return rest(context, cashout)
  }
}

/**
 * Returns true if the cash-out is old. No step renews the creation time, so a restored row, which may have
 * been paid, counts as old.
 */
const isLate = ({ createdAt, leasedAt }: DueCashout) => leasedAt.getTime() - createdAt.getTime() > lateMs

const mayBeReversed = ({ reversalWatchMs }: Context, { paidAt, updatedAt, leasedAt }: DueCashout) =>
  leasedAt.getTime() - (paidAt ?? updatedAt).getTime() <= reversalWatchMs

/** Resends an order. The relayer acts once per payout and reports the outcome again. */
async function orderAgain(
  { database, poke }: Context,
  cashout: Cashout,
  repeat: (tx: Tx, cashout: Cashout) => void,
): Promise<void> {
  await database.transaction((tx) => repeat(tx, cashout))
  poke()
}

async function rest({ database }: Context, cashout: Cashout): Promise<void> {
  await database.run((db) => endChecks(db, cashout))
}
