import type { Database, Tx } from '#shared/db/open'
import { pause } from '#shared/deadline'
import { failpoint } from '#shared/failpoint'
import { money } from '#shared/money/money'
import { type Answer, ok, refuse } from '#shared/refusals'
import { leaseOpening } from './checkout.store'
import type { Context } from './context'
import { nextLook, reopenMaxMs } from './look'
import {
  findByQuote,
  insertPayment,
  lockWallet,
  movePayment,
  type NewPayment,
  notePayment,
  type PaymentRow,
} from './payment.store'
import type { Checkout, PaymentProvider } from './payment-provider'

export type PaymentResult = { paymentId: string; checkoutUrl: string; fiat: string; ausd: string }

export type Checkouts = {
  readonly database: Database
  readonly provider: PaymentProvider
  readonly context: Context
  readonly checkoutTtlMs: number
}

/** Longer than one attempt at the provider takes. */
const openingLeaseMs = 7_000
const otherCopyMs = 4_000

/**
 * Stores the promise, then opens its checkout: a crash in between leaves a row that says so.
 * Undefined when it must not be stored now: what `may` looks at, under the wallet's lock, has changed.
 */
export async function openNew(
  means: Checkouts,
  row: NewPayment,
  may: (tx: Tx) => Promise<boolean> = async () => true,
): Promise<Answer<PaymentResult> | undefined> {
  const made = await means.database.transaction(async (tx) => {
    await lockWallet(tx, row.wallet)
    return (await may(tx)) && insertPayment(tx, row)
  })
  failpoint('payments:row-stored')
  const stored = await means.database.read((db) => findByQuote(db, row.quoteId))
  if (!stored) return undefined
  return made ? openCheckout(means, stored) : resume(means, stored, row.takenBy)
}

/** The same call again gets the first answer again; where there is none yet, its checkout is opened. */
export async function resume(
  means: Checkouts,
  payment: PaymentRow,
  takenBy: string,
): Promise<Answer<PaymentResult>> {
  if (payment.takenBy !== takenBy) return refuse('quote_used')
  const result = resultOf(payment)
  if (result) return ok(result)
  // The rate was locked for a minute; a checkout at it cannot be had for ever.
  const ageMs = means.context.clock() - payment.createdAt.getTime()
  if (payment.state !== 'opening' || ageMs > reopenMaxMs) return refuse('quote_expired')
  return openCheckout(means, payment)
}

function resultOf(payment: PaymentRow): PaymentResult | undefined {
  if (payment.checkoutUrl === null) return undefined
  return {
    paymentId: payment.id,
    checkoutUrl: payment.checkoutUrl,
    fiat: payment.fiatMinor.toString(),
    ausd: payment.ausdMicro.toString(),
  }
}

async function openCheckout(means: Checkouts, { id, quoteId }: PaymentRow) {
  const { database } = means
  const payment = await database.read((db) => leaseOpening(db, id, openingLeaseMs))
  if (!payment) return awaitOther(means, quoteId)
  const checkout = await askForCheckout(means, payment)
  if (!checkout?.checkoutUrl) {
    await database.read((db) => notePayment(db, id, { openingUntil: null }))
    return refuse('provider_unavailable')
  }
  failpoint('payments:session-opened')
  const stored = await storeCheckout(means, payment, checkout)
  failpoint('payments:session-stored')
  const result = stored && resultOf(stored)
  return result ? ok(result) : refuse('provider_unavailable')
}

/**
 * An unclear outcome may have opened a checkout that nobody knows. It can do no harm: nobody was
 * given its address, and money that came through it would carry our reference.
 */
async function askForCheckout(
  means: Checkouts,
  payment: PaymentRow,
): Promise<Checkout | undefined> {
  const { context, provider, checkoutTtlMs } = means
  try {
    const checkout = await provider.openCheckout({
      account: payment.account,
      reference: payment.id,
      fiat: money(payment.fiatMinor, payment.currency),
      description:
        payment.kind === 'topup' ? 'Top-up of your credit line' : 'Settlement of your debt',
      cardsOnly: payment.method === 'card',
      expiresAt: new Date(context.clock() + checkoutTtlMs),
    })
    if (!checkout) context.log.error({ paymentId: payment.id, alarm: true }, 'checkout was refused')
    return checkout
  } catch (error) {
    context.log.warn({ paymentId: payment.id, err: error }, 'checkout could not be opened')
    return undefined
  }
}

async function storeCheckout(
  { database, context, provider, checkoutTtlMs }: Checkouts,
  payment: PaymentRow,
  checkout: Checkout,
): Promise<PaymentRow | undefined> {
  const { sessionId, checkoutUrl, paymentRequestId } = checkout
  const expiresAt = checkout.expiresAt ?? new Date(context.clock() + checkoutTtlMs)
  const next = { ...payment, state: 'awaiting_payment' as const, looks: 0, expiresAt }
  const moved = await database.read((db) =>
    movePayment(db, payment.id, {
      from: ['opening'],
      to: next.state,
      lookAt: nextLook(next, context.clock(), context.sweepAfterMs),
      set: { sessionId, checkoutUrl, expiresAt, paymentRequestId, openingUntil: null },
    }),
  )
  if (moved) {
    context.log.info({ paymentId: payment.id, kind: payment.kind }, 'checkout opened')
    return moved
  }
  await provider.cancelCheckout(payment.account, sessionId)
  return database.read((db) => findByQuote(db, payment.quoteId))
}

/** Another copy, or another call of the same client, is opening it right now. */
async function awaitOther({ database, context }: Checkouts, quoteId: string) {
  const givesUpAt = context.clock() + otherCopyMs
  while (context.clock() < givesUpAt) {
    const payment = await database.read((db) => findByQuote(db, quoteId))
    const result = payment && resultOf(payment)
    if (result) return ok(result)
    if (payment?.state !== 'opening') break
    await pause(100)
  }
  return refuse('provider_unavailable')
}
