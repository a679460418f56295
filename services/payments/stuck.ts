import type { Ask } from '#shared/bus/ask'
import type { Database, Tx } from '#shared/db/open'
import { pause } from '#shared/deadline'
import { failpoint } from '#shared/failpoint'
import { ChainAccount } from '#shared/messages/chain'
import { askOr } from './asking'
import { expire, receiveCheckout } from './checkout.store'
import { findByCheckout } from './finding'
import { nextLook } from './look'
import { leaseLooks, planLook } from './look.store'
import { orderEffect } from './order.store'
import { lockPayment, type PaymentRow } from './payment.store'
import type { PaymentProvider } from './payment-provider'
import { decideMatured } from './receipt'
import { receiveRefund } from './refund-receipt.store'
import { type Desk, takeDecided } from './step.store'

export type Sweeper = {
  readonly database: Database
  readonly provider: PaymentProvider
  readonly ask: Ask
  readonly desk: Desk
  readonly everyMs: number
  readonly looksMax: number
  readonly poke: () => void
}

/** Half of the provider's budget: the other half is for users who open checkouts, and webhooks. */
export const looksPerRound = (requestsPerMinute: number, everyMs: number): number =>
  Math.min(200, Math.max(1, Math.floor((requestsPerMinute * everyMs) / 120_000)))

/** Asks for everything that is quiet for too long at its authority, until disposed. */
export function startSweeping(sweeper: Sweeper): AsyncDisposable {
  const stop = new AbortController()
  const loop = async () => {
    while (!stop.signal.aborted) {
      await sweepOnce(sweeper).catch((error) =>
        sweeper.desk.log.warn({ err: error }, 'sweep failed'),
      )
      await pause(sweeper.everyMs, stop.signal)
    }
  }
  const ended = loop()
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await ended
    },
  }
}

/** One round: lease what is due, look at each, plan its next look. */
export async function sweepOnce(sweeper: Sweeper): Promise<void> {
  const { database, desk, looksMax } = sweeper
  const due = await leaseLooks(database, new Date(desk.clock()), looksMax)
  await Promise.all(due.map((payment) => lookAndPlan(sweeper, payment)))
  if (due.length > 0) sweeper.poke()
}

async function lookAndPlan(sweeper: Sweeper, payment: PaymentRow): Promise<void> {
  const { database, desk } = sweeper
  try {
    const restUntil = await look(sweeper, payment)
    const usual = nextLook(payment, desk.clock(), desk.sweepAfterMs)
    await planLook(database, payment, restUntil ?? usual)
  } catch (error) {
    // The lease ends by itself, and then it is looked at again.
    const { id: paymentId, state } = payment
    desk.log.warn({ paymentId, state, err: error }, 'quiet payment could not be asked for')
  }
}

/** Looks once; a returned time overrules the usual rest. */
async function look(sweeper: Sweeper, payment: PaymentRow): Promise<Date | undefined> {
  switch (payment.state) {
    case 'opening':
      await onLocked(sweeper, payment, (tx, row) => expire(tx, sweeper.desk, row))
      return
    case 'awaiting_payment':
    case 'expired':
      await lookAtCheckout(sweeper, payment)
      return
    case 'paid':
    case 'revoking':
      await onLocked(sweeper, payment, (tx, row) => orderEffect(tx, row, row.looks))
      sweeper.desk.log.warn({ paymentId: payment.id, state: payment.state }, 'order repeated')
      return
    case 'held':
      return lookAtHold(sweeper, payment)
    default:
      return
  }
}

async function lookAtCheckout(sweeper: Sweeper, payment: PaymentRow): Promise<void> {
  const { database, provider, desk } = sweeper
  const { account, sessionId } = payment
  if (sessionId === null) return
  const found = await findByCheckout(provider, account, sessionId)
  if (found.fetched) failpoint('payments:payment-found')
  if (!found.checkout) {
    desk.log.error({ paymentId: payment.id, alarm: true }, 'provider does not know our checkout')
    await onLocked(sweeper, payment, (tx, row) => expire(tx, desk, row))
    return
  }
  const paid = await database.transaction((tx) => receiveCheckout(tx, desk, account, found))
  if (paid) failpoint('payments:paid-committed')
}

/** The chain decides when the hold has ended; `pendingUntil` is the end of the wallet's last one. */
async function lookAtHold(sweeper: Sweeper, payment: PaymentRow): Promise<Date | undefined> {
  const { ask, desk } = sweeper
  await lookForRefunds(sweeper, payment)
  const { wallet } = payment
  const account = await askOr(ask, ChainAccount, { wallet }, 'chain_unavailable')
  if ('refused' in account) return undefined
  const { pendingShares, pendingUntil } = account.ok.collateral
  if (pendingUntil !== null && pendingShares !== '0') {
    const ripeMs = Math.max(Number(pendingUntil) * 1_000, desk.clock()) + 1_000
    return new Date(Math.min(ripeMs, desk.clock() + desk.sweepAfterMs))
  }
  await onLocked(sweeper, payment, async (tx, row) => {
    await takeDecided(tx, desk, row, decideMatured(row))
  })
  return undefined
}

/** While a top-up is held a refund can still be met by taking it back, so none may be missed. */
async function lookForRefunds(sweeper: Sweeper, payment: PaymentRow): Promise<void> {
  const { database, provider, desk } = sweeper
  const { account, paymentRequestId, providerPaymentId } = payment
  if (!paymentRequestId || !providerPaymentId) return
  // Its webhook is what we count on: the list is not in the provider's current reference.
  const refunds = await provider.listRefunds(account, paymentRequestId).catch(() => [])
  const done = refunds.filter(({ status }) => status === 'succeeded')
  const fetched = done.length > 0 && (await provider.findCharge(account, providerPaymentId))
  if (!fetched) return
  await database.transaction(async (tx) => {
    for (const refund of done) await receiveRefund(tx, desk, refund, fetched)
  })
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
