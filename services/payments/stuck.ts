import type { Ask } from '#shared/bus/ask'
import type { Database, Tx } from '#shared/db/open'
import { failpoint } from '#shared/failpoint'
import { startLoop } from '#shared/loop'
import { expire, receiveCheckout } from './checkout.store'
import type { Context } from './context'
import { findByCheckout } from './finding'
import { checkHold } from './hold'
import { nextLook } from './look'
import { leaseLooks, planLook } from './look.store'
import { orderEffect } from './order.store'
import { isOnHold } from './payment'
import { lockPayment, type PaymentRow } from './payment.store'
import type { PaymentProvider } from './payment-provider'
import { recheckWallets } from './reversal'

export type Sweeper = {
  readonly database: Database
  readonly provider: PaymentProvider
  readonly ask: Ask
  readonly context: Context
  readonly everyMs: number
  readonly looksMax: number
  readonly poke: () => void
}

/** Half of the provider's budget: the other half is for users who open checkouts, and webhooks. */
export const looksPerRound = (requestsPerMinute: number, everyMs: number): number =>
  Math.min(200, Math.max(1, Math.floor((requestsPerMinute * everyMs) / 120_000)))

/** Looks under way at once; a round may always begin a few, for holds come first. */
const runningMax = 400
const roomMin = 8

/** How often a round begins: often enough to be there before a hold ends. */
export const roundEveryMs = (everyMs: number, holdMarginMs: number): number =>
  Math.min(everyMs, Math.max(100, holdMarginMs / 8))

/**
 * Asks for everything that is quiet for too long at its authority, until disposed. A round does not
 * wait for the one before: a provider that hangs must not keep us from a hold that is about to end.
 */
export function startSweeping(sweeper: Sweeper): AsyncDisposable {
  const { context, everyMs } = sweeper
  const running = new Set<Promise<void>>()
  const loop = startLoop({
    name: 'recheck',
    everyMs: roundEveryMs(everyMs, context.holdMarginMs),
    log: context.log,
    work: () => sweepOnce(sweeper, running),
  })
  return {
    [Symbol.asyncDispose]: async () => {
      await loop[Symbol.asyncDispose]()
      await Promise.all(running)
    },
  }
}

/**
 * One round: lease what is due, look at each, plan its next look. With `running` given, the looks go
 * on in there after the round.
 */
export async function sweepOnce(sweeper: Sweeper, running?: Set<Promise<void>>): Promise<void> {
  const { database, context, looksMax, poke } = sweeper
  const room = running ? Math.max(roomMin, runningMax - running.size) : looksMax
  const rowsMax = Math.min(looksMax, room)
  const due = await leaseLooks(database, new Date(context.clock()), rowsMax)
  const looks = due.map((payment) => lookAndPlan(sweeper, payment).then(poke))
  if (!running) await Promise.all(looks)
  else
    for (const one of looks) {
      running.add(one)
      void one.finally(() => running.delete(one))
    }
  if (await recheckWallets(database, context)) poke()
}

async function lookAndPlan(sweeper: Sweeper, payment: PaymentRow): Promise<void> {
  const { database, context } = sweeper
  try {
    const restUntil = await look(sweeper, payment)
    const quiet = { ...payment, onHold: isOnHold(payment) }
    const usual = nextLook(quiet, context.clock(), context.sweepAfterMs)
    await planLook(database, payment, restUntil ?? usual)
  } catch (error) {
    // The lease ends by itself, and then it is looked at again.
    const { id: paymentId, state } = payment
    context.log.warn({ paymentId, state, err: error }, 'quiet payment could not be asked for')
  }
}

/** Looks once; a returned time overrules the usual rest. */
async function look(sweeper: Sweeper, payment: PaymentRow): Promise<Date | undefined> {
  switch (payment.state) {
    case 'opening':
      await onLocked(sweeper, payment, (tx, row) => expire(tx, sweeper.context, row))
      return
    case 'awaiting_payment':
    case 'expired':
    case 'replaced':
      await lookAtCheckout(sweeper, payment)
      return
    case 'paid':
    case 'revoking':
      await onLocked(sweeper, payment, (tx, row) => orderEffect(tx, row, row.looks))
      sweeper.context.log.warn({ paymentId: payment.id, state: payment.state }, 'order repeated')
      return
    case 'held':
    case 'repaid':
      return isOnHold(payment) ? checkHold(sweeper, payment) : undefined
    default:
      return
  }
}

async function lookAtCheckout(sweeper: Sweeper, payment: PaymentRow): Promise<void> {
  const { database, provider, context } = sweeper
  const { account, sessionId } = payment
  if (sessionId === null) return
  const found = await findByCheckout(provider, account, sessionId)
  if (found.fetched) failpoint('payments:payment-found')
  if (!found.checkout) {
    context.log.error({ paymentId: payment.id, alarm: true }, 'provider does not know our checkout')
    await onLocked(sweeper, payment, (tx, row) => expire(tx, context, row))
    return
  }
  const paid = await database.transaction((tx) => receiveCheckout(tx, context, account, found))
  if (paid) failpoint('payments:paid-committed')
}

/** Runs on the row as it is now, unless it moved since it was leased. */
const onLocked = (
  { database }: Sweeper,
  { id, state }: PaymentRow,
  work: (tx: Tx, row: PaymentRow) => Promise<void>,
) =>
  database.transaction(async (tx) => {
    const row = await lockPayment(tx, id)
    if (row?.state === state) await work(tx, row)
  })
