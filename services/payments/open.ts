import { createHash } from 'node:crypto'
import { answering } from '#shared/bus/serve'
import type { Db, Tx } from '#shared/db/open'
import { useReservation } from '#shared/db/reservation.store'
import { pause, within } from '#shared/deadline'
import { failpoint } from '#shared/failpoint'
import { idFor } from '#shared/ids'
import { ChainAccount } from '#shared/messages/chain'
import { SettlementCreate, TopupCreate } from '#shared/messages/payments'
import { QuoteFind, QuoteTake } from '#shared/messages/pricing'
import { money } from '#shared/money/money'
import { accountFor, type Pair } from '#shared/money/pair'
import { type Answer, ok, refuse } from '#shared/refusals'
import { requestId } from '#shared/request-id'
import { askDeadlineMs, askOr, type Context } from './context'
import { sumTopups } from './cover/limits.store'
import { coverSettlement, coverTopup, uncoverTopup } from './cover/reserve'
import { nextCheck, reopenMaxMs } from './decide'
import type { PaymentKind } from './payment'
import {
  findByQuote,
  insertPayment,
  leaseOpening,
  lockWallet,
  movePayment,
  type NewPayment,
  notePayment,
  type PaymentRow,
  walletLock,
} from './payment.store'
import { limitTopup, type Method, type Price, priceSettlement, priceTopup } from './price'
import type { Checkout } from './provider'
import { findWallet } from './refunds/refund.store'
import { endOpenSettlement, maySettle } from './replace'
import { reservations } from './schema.store'

type PaymentResult = { paymentId: string; checkoutUrl: string; fiat: string; ausd: string }
type Quote = { pair: Pair; rate: string; spreadBps: number }

/** Request for a top-up or settlement, with the steps in which the two differ. */
type PaymentRequest = {
  readonly kind: PaymentKind
  readonly wallet: `0x${string}`
  readonly quoteId: string
  readonly method: Method | null
  /** Fields that, together with kind and wallet, distinguish this request from a retry. */
  readonly body: readonly string[]
  /** Runs the checks that need no quote; a refusal ends the request before the quote is read. */
  readonly admit: () => Promise<Answer<(quote: Quote) => Answer<Price>>>
  /** Ends an earlier checkout once every other check has passed; returns whether there was one. */
  readonly endEarlier?: () => Promise<Answer<{ ended: boolean }>>
  /**
   * Checks that the treasury covers the promise and, for a top-up, reserves it. Runs after every
   * check that answers 400.
   */
  readonly cover: (price: Price) => Promise<Answer<object>>
  /** Releases the reservation if nothing was promised. */
  readonly uncover?: () => Promise<unknown>
  /**
   * Locks the wallet and checks again, in the transaction that stores the payment and before the
   * quote is taken. Returns false if the inputs of the price changed and it must be computed again.
   */
  readonly mayStore: (tx: Tx, price: Price) => Promise<Answer<boolean>>
}

/**
 * Opens top-ups. Refusals, in this order: not_verified, wallet_frozen (cards), quote, amount,
 * limits (including a pause), treasury cover.
 */
export const answerTopups = (context: Context) =>
  answering(TopupCreate, ({ wallet, amount, method, quoteId }) => {
    const amountMinor = BigInt(amount)
    const limit = async (db: Db, { ausdMicro }: Pick<Price, 'ausdMicro'>) => {
      const { pausedSince, ...totals } = await sumTopups(db, wallet, new Date(context.clock()))
      if (pausedSince) return refuse('topups_paused', pausedSince)
      const refused = limitTopup(ausdMicro, totals, context.topupLimits)
      return refused ? refuse(refused) : ok(true)
    }
    return openPayment(context, {
      kind: 'topup',
      wallet,
      quoteId,
      method,
      body: [amountMinor.toString(), method],
      admit: async () => {
        const account = await askOr(context, ChainAccount, { wallet }, 'chain_unavailable')
        if ('refused' in account) return account
        if (!account.ok.verified) return refuse('not_verified')
        // Bank and QR stay available to a frozen wallet, so that it can repay a reversal.
        if (method === 'card' && (await isFrozen(context, account.ok)))
          return refuse('wallet_frozen')
        return ok(({ pair, rate }) =>
          priceTopup({ amountMinor, method, pair, rateMinorPerUsd: BigInt(rate) }),
        )
      },
      cover: (price) => coverTopup(context, { quoteId, ...price }, (db) => limit(db, price)),
      uncover: () => uncoverTopup(context, quoteId),
      mayStore: async (tx, price) => {
        const isCovered = await useReservation(tx, reservations, quoteId, walletLock(wallet))
        if (!isCovered) return ok(false)
        return limit(tx, price)
      },
    })
  })

/** Returns true if the wallet is frozen on the chain, or we ordered it and the chain is behind. */
const isFrozen = async (
  { database }: Context,
  account: { wallet: `0x${string}`; frozen: boolean },
): Promise<boolean> =>
  account.frozen || ((await database.read((db) => findWallet(db, account.wallet)))?.frozen ?? false)

/**
 * Opens settlements. Refusals, in this order: nothing_owed, quote, amount, an earlier settlement in
 * progress, a debt that the treasury cannot repay.
 */
export const answerSettlements = (context: Context) =>
  answering(SettlementCreate, ({ wallet, quoteId }) => {
    let readAt = new Date(0)
    let debtMicro = 0n
    const cover = () => coverSettlement(context, debtMicro)
    return openPayment(context, {
      kind: 'settlement',
      wallet,
      quoteId,
      method: null,
      body: [],
      admit: async () => {
        readAt = new Date(context.clock())
        const account = await askOr(context, ChainAccount, { wallet }, 'chain_unavailable')
        if ('refused' in account) return account
        const drawnMicro = BigInt(account.ok.drawn)
        if (drawnMicro === 0n) return refuse('nothing_owed')
        debtMicro = drawnMicro
        return ok(({ pair, rate }) =>
          priceSettlement({ drawnMicro, pair, rateMinorPerUsd: BigInt(rate) }),
        )
      },
      endEarlier: () => endOpenSettlement(context, { wallet, quoteId }, cover),
      cover,
      mayStore: async (tx) => {
        await lockWallet(tx, wallet)
        return ok(await maySettle(tx, wallet, readAt))
      },
    })
  })

/** Maximum attempts if the debt or an earlier checkout changes concurrently. */
const triesMax = 4

/**
 * Opens one payment per quote. A retry is answered before any other check, so that it gets the
 * first response even if the quote has expired or the debt has changed since. A refusal changes
 * nothing and leaves the quote unused.
 */
async function openPayment(
  context: Context,
  request: PaymentRequest,
): Promise<Answer<PaymentResult>> {
  const { database } = context
  const { quoteId } = request
  const takenBy = fingerprint([request.kind, request.wallet, ...request.body])
  const finding = database.read((db) => findByQuote(db, quoteId))
  const known = await within(finding, askDeadlineMs, 'the database') // Before anything is stored.
  if (known) return resume(context, known, takenBy)

  for (let tries = 0; tries < triesMax; tries++) {
    const terms = await agree(context, request, takenBy)
    if ('refused' in terms) {
      // A concurrent retry may have succeeded and caused this refusal.
      const stored = await database.read((db) => findByQuote(db, quoteId))
      return stored ? resume(context, stored, takenBy) : terms
    }
    if (!terms.ok) continue
    const row = rowFor(context, { ...request, takenBy }, terms.ok.quote, terms.ok.price)
    const opened = await storeAndOpen(context, row, request)
    if (opened) return opened
  }
  return refuse('provider_unavailable')
}

/**
 * Runs every check that precedes taking the quote. Returns undefined if the inputs changed and the
 * caller must retry.
 */
async function agree(
  context: Context,
  request: PaymentRequest,
  takenBy: string,
): Promise<Answer<{ quote: Quote; price: Price } | undefined>> {
  const { quoteId } = request
  const admitted = await request.admit()
  if ('refused' in admitted) return admitted
  const quote = await askOr(context, QuoteFind, { quoteId, takenBy }, 'rate_unavailable')
  if ('refused' in quote) return quote
  const price = admitted.ok(quote.ok)
  if ('refused' in price) return price
  const earlier = await request.endEarlier?.()
  if (earlier && 'refused' in earlier) return earlier
  // The earlier checkout may have been paid and changed the debt, so read it again.
  if (earlier?.ok.ended) return ok(undefined)
  const covered = await request.cover(price.ok)
  if ('refused' in covered) return covered
  return ok({ quote: quote.ok, price: price.ok })
}

const fingerprint = (parts: readonly string[]) =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url')

function rowFor(
  { clock, sweepAfterMs }: Context,
  request: PaymentRequest & { takenBy: string },
  quote: Quote,
  price: Price,
): NewPayment {
  const now = clock()
  const row = {
    id: idFor('payment', request.quoteId),
    kind: request.kind,
    state: 'opening',
    wallet: request.wallet,
    pair: quote.pair,
    rateMinorPerUsd: BigInt(quote.rate),
    spreadBps: quote.spreadBps,
    ...price,
    method: request.method,
    quoteId: request.quoteId,
    takenBy: request.takenBy,
    requestId: requestId() ?? null,
    account: accountFor(price.currency),
    createdAt: new Date(now),
  } as const
  return {
    ...row,
    nextCheckAt: nextCheck({ ...row, checks: 0, expiresAt: null }, now, sweepAfterMs),
  }
}

/**
 * Stores the promise, then opens its checkout; a crash in between leaves the row in `opening`.
 * Returns undefined if the inputs checked by `mayStore` changed.
 *
 * The quote is taken inside the transaction, after the checks and before the insert: concurrent
 * requests are counted one after another, and a refusal leaves the quote unused. A crash after
 * taking the quote stores nothing; the retry has the same fingerprint and can take it again. Taking
 * the quote has a timeout, so the lock is held only briefly.
 */
async function storeAndOpen(
  context: Context,
  row: NewPayment,
  { mayStore, uncover }: Pick<PaymentRequest, 'mayStore' | 'uncover'>,
): Promise<Answer<PaymentResult> | undefined> {
  const { database } = context
  const { quoteId, takenBy } = row
  const made = await database.transaction(async (tx) => {
    const may = await mayStore(tx, row)
    // A concurrent identical request won: answer as its retry, whatever the limits.
    if ('refused' in may) return (await findByQuote(tx, quoteId)) ? undefined : may
    if (!may.ok) return undefined
    const taken = await askOr(context, QuoteTake, { quoteId, takenBy }, 'rate_unavailable')
    if ('refused' in taken) return taken
    failpoint('payments:quote-taken')
    return insertPayment(tx, row, openingLeaseMs)
  })
  if (!made || 'refused' in made) await uncover?.()
  if (made && 'refused' in made) return made
  failpoint('payments:row-stored')
  if (made) return openCheckout(context, made)
  const stored = await database.read((db) => findByQuote(db, row.quoteId))
  return stored && resume(context, stored, row.takenBy)
}

/** Returns the first response to a retry, or opens the checkout if that has not happened yet. */
async function resume(
  context: Context,
  payment: PaymentRow,
  takenBy: string,
): Promise<Answer<PaymentResult>> {
  if (payment.takenBy !== takenBy) return refuse('quote_used')
  const result = resultOf(payment)
  if (result) return ok(result)
  // The rate was locked for a minute; do not open checkouts at it much later.
  const ageMs = context.clock() - payment.createdAt.getTime()
  if (payment.state !== 'opening' || ageMs > reopenMaxMs) return refuse('quote_expired')
  const leased = await context.database.run((db) => leaseOpening(db, payment.id, openingLeaseMs))
  return leased ? openCheckout(context, leased) : awaitOther(context, payment.quoteId)
}

function resultOf(payment: PaymentRow): PaymentResult | undefined {
  if (payment.checkoutUrl === null) return undefined
  return {
    paymentId: payment.id,
    checkoutUrl: payment.checkoutUrl,
    fiat: payment.fiatMinor.toString(),
    ausd: (payment.promisedMicro ?? payment.ausdMicro).toString(),
  }
}

/** Lease on opening a checkout; longer than one attempt at the provider. */
const openingLeaseMs = 7_000

/** Opens and stores the checkout. The caller holds the lease on `payment`. */
async function openCheckout(context: Context, payment: PaymentRow): Promise<Answer<PaymentResult>> {
  const checkout = await askForCheckout(context, payment)
  if (!checkout?.checkoutUrl) {
    await context.database.run((db) => notePayment(db, payment.id, { openingUntil: null }))
    return refuse('provider_unavailable')
  }
  failpoint('payments:checkout-opened')
  const stored = await storeCheckout(context, payment, checkout)
  failpoint('payments:checkout-stored')
  const result = stored && resultOf(stored)
  return result ? ok(result) : refuse('provider_unavailable')
}

/**
 * Opens the checkout at the provider. An unclear outcome may leave an orphaned one, which is
 * harmless: its URL was never shown, and money paid through it would carry our reference.
 */
async function askForCheckout(
  context: Context,
  payment: PaymentRow,
): Promise<Checkout | undefined> {
  const { provider, checkoutTtlMs, log } = context
  try {
    const checkout = await provider.openCheckout({
      account: payment.account,
      reference: payment.id,
      fiat: money(payment.fiatMinor, payment.currency),
      description: payment.kind === 'topup' ? 'Credit line top-up' : 'Credit line repayment',
      cardsOnly: payment.method === 'card',
      expiresAt: new Date(context.clock() + checkoutTtlMs),
      promised: {
        kind: payment.kind,
        ...(payment.method ? { method: payment.method } : {}),
        wallet: payment.wallet,
        quote_id: payment.quoteId,
        taken_by: payment.takenBy,
        rate: payment.rateMinorPerUsd.toString(),
        ...(payment.spreadBps > 0 ? { spread: String(payment.spreadBps) } : {}),
        ausd: payment.ausdMicro.toString(),
      },
    })
    if (!checkout) log.error({ paymentId: payment.id, alarm: true }, 'checkout refused by provider')
    return checkout
  } catch (error) {
    log.warn({ paymentId: payment.id, err: error }, 'opening checkout failed')
    return undefined
  }
}

async function storeCheckout(
  context: Context,
  payment: PaymentRow,
  checkout: Checkout,
): Promise<PaymentRow | undefined> {
  const { database, provider, log, checkoutTtlMs, sweepAfterMs } = context
  const { checkoutId, checkoutUrl, paymentRequestId } = checkout
  const expiresAt = checkout.expiresAt ?? new Date(context.clock() + checkoutTtlMs)
  const next = { ...payment, state: 'awaiting_payment' as const, checks: 0, expiresAt }
  const moved = await database.run((db) =>
    movePayment(db, payment.id, {
      from: ['opening'],
      to: next.state,
      nextCheckAt: nextCheck(next, context.clock(), sweepAfterMs),
      set: { checkoutId, checkoutUrl, expiresAt, paymentRequestId, openingUntil: null },
    }),
  )
  if (moved) {
    log.info({ paymentId: payment.id, kind: payment.kind }, 'checkout opened')
    return moved
  }
  await provider.cancelCheckout(payment.account, checkoutId)
  failpoint('payments:checkout-ended')
  return database.read((db) => findByQuote(db, payment.quoteId))
}

const otherCopyMs = 4_000

/** Waits for the checkout that another instance or a concurrent retry is opening. */
async function awaitOther(
  { database, clock }: Context,
  quoteId: string,
): Promise<Answer<PaymentResult>> {
  const givesUpAt = clock() + otherCopyMs
  while (clock() < givesUpAt) {
    const payment = await database.read((db) => findByQuote(db, quoteId))
    const result = payment && resultOf(payment)
    if (result) return ok(result)
    if (payment?.state !== 'opening') break
    await pause(100)
  }
  return refuse('provider_unavailable')
}
