import { createHash } from 'node:crypto'
import { handler } from '#shared/bus/serve'
import type { Tx } from '#shared/db/open'
import { pause, within } from '#shared/deadline'
import { failpoint } from '#shared/failpoint'
import { idFor } from '#shared/ids'
import { ChainAccount } from '#shared/messages/chain'
import { SettlementCreate, TopupCreate } from '#shared/messages/payments'
import { QuoteFind, QuoteTake } from '#shared/messages/pricing'
import { accountFor, type Pair } from '#shared/money/pair'
import { type Answer, ok, refuse } from '#shared/refusals'
import { requestId } from '#shared/request-id'
import { askDeadlineMs, askOr, type Context } from '../context'
import { nextCheck, reopenMaxMs } from '../decide'
import { findWallet } from '../losses/refund.store'
import { expire } from '../onchain/advance'
import type { PaymentKind } from '../payment'
import {
  findByQuote,
  insertPayment,
  leaseOpening,
  lockPayment,
  lockWallet,
  type NewPayment,
  type PaymentRow,
} from '../payment.store'
import {
  limitTopup,
  type Method,
  type Price,
  priceSettlement,
  priceTopup,
  type Terms,
} from '../price'
import type { Treasury } from '../treasury/cover'
import { readDebt } from '../treasury/debt'
import { sumTopups } from '../treasury/limits.store'
import { coverDebt, coverTopup } from '../treasury/reserve'
import { openCheckout, type PaymentResult, releaseOpening, resultOf } from './provider-checkout'
import { endEarlier, type MayStore, maySettle, receiveEarlier } from './replace'

type Topup = Pick<Terms, 'topupMicro'>
type Quote = { readonly pair: Pair; readonly rate: string; readonly spreadBps: number }

/** Request for a top-up or settlement, with the steps in which the two differ. */
type PaymentRequest = {
  readonly kind: PaymentKind
  readonly wallet: `0x${string}`
  readonly quoteId: string
  readonly method: Method | null
  /** Fields that, together with kind and wallet, distinguish this request from a retry. */
  readonly body: readonly string[]
  /** Runs the checks that need no quote; a refusal ends the request before the quote is read. */
  readonly admit: () => Promise<Answer<(quote: Quote) => Answer<Price & Topup>>>
  /** Runs the checks that call the provider, once all checks that answer 400 have passed. */
  readonly look?: (terms: Terms) => Promise<Answer<object>>
  /**
   * Decides whether the payment may be stored. Runs in the transaction that stores it, with the
   * wallet locked, so that concurrent requests are counted one after another.
   */
  readonly mayStore: (tx: Tx, terms: Terms, treasury: Treasury | undefined) => Promise<MayStore>
}

/**
 * Opens top-ups. Refusals, in this order: not_verified, wallet_frozen (cards), quote, amount,
 * limits (including a pause), treasury cover.
 */
export const answerTopups = (context: Context) =>
  handler(TopupCreate, ({ wallet, amount, method, quoteId }) => {
    const amountMinor = BigInt(amount)
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
        return ok(({ pair, rate }) => {
          const price = priceTopup({ amountMinor, method, pair, rateMinorPerUsd: BigInt(rate) })
          return 'refused' in price ? price : ok({ ...price.ok, topupMicro: price.ok.ausdMicro })
        })
      },
      mayStore: async (tx, { ausdMicro }, treasury) => {
        if (treasury && ausdMicro > treasury.creditMaxMicro) return refuse('amount_above_maximum')
        return admitTopup(tx, context, { wallet, ausdMicro, treasury })
      },
    })
  })

/** Holds an amount that may become collateral to the pause, the limits and the cover of top-ups. */
async function admitTopup(
  tx: Tx,
  context: Context,
  wanted: { wallet: `0x${string}`; ausdMicro: bigint; treasury: Treasury | undefined },
): Promise<Answer<object>> {
  const { wallet, ausdMicro, treasury } = wanted
  const { pausedSince, ...totals } = await sumTopups(tx, wallet, new Date(context.clock()))
  if (pausedSince) return refuse('topups_paused', pausedSince)
  const limited = limitTopup(ausdMicro, totals, context.topupLimits)
  if (limited) return refuse(limited)
  return coverTopup(tx, treasury, { ausdMicro, openMicro: totals.openMicro })
}

/** Returns true if the wallet is frozen on the chain, or we ordered it and the chain is behind. */
const isFrozen = async (
  { database }: Context,
  account: { wallet: `0x${string}`; frozen: boolean },
): Promise<boolean> =>
  account.frozen || ((await database.read((db) => findWallet(db, account.wallet)))?.frozen ?? false)

/**
 * Opens settlements. Refusals, in this order: nothing_owed, quote, amount, an earlier settlement in
 * progress, too many of them, a debt that the treasury cannot repay; and those of a top-up for the
 * part of a debt that is not ripe, which its owner may repay himself before paying.
 */
export const answerSettlements = (context: Context) =>
  handler(SettlementCreate, ({ wallet, quoteId }) => {
    let readAt = new Date(0)
    return openPayment(context, {
      kind: 'settlement',
      wallet,
      quoteId,
      method: null,
      body: [],
      admit: async () => {
        readAt = new Date(context.clock())
        const debt = await readDebt(context, wallet)
        if ('refused' in debt) return debt
        const { drawnMicro, ripeMicro } = debt.ok
        if (drawnMicro === 0n) return refuse('nothing_owed')
        return ok(({ pair, rate }) => {
          const price = priceSettlement({ drawnMicro, pair, rateMinorPerUsd: BigInt(rate) })
          return 'refused' in price
            ? price
            : ok({ ...price.ok, topupMicro: drawnMicro - ripeMicro })
        })
      },
      look: (terms) => receiveEarlier(context, wallet, terms),
      mayStore: async (tx, terms, treasury) => {
        const may = await maySettle(tx, context, { wallet, terms, readAt })
        if (may) return may
        const repayable = coverDebt(treasury, terms.ausdMicro)
        const ausdMicro = terms.topupMicro
        if ('refused' in repayable || ausdMicro === 0n) return repayable
        return admitTopup(tx, context, { wallet, ausdMicro, treasury })
      },
    })
  })

/** Maximum attempts if the debt changes concurrently. */
const triesMax = 4

/**
 * Opens one payment per quote. A retry is answered before any other check, so that it gets the
 * first response even if the quote has expired or the debt has changed since.
 *
 * The row is stored before the quote is taken, and limits and cover are checked as it is stored, so
 * that a promise counts from then on and its age bounds that of its rate. A refusal before that
 * changes nothing; one after it, of the quote itself, ends the row.
 */
async function openPayment(
  context: Context,
  request: PaymentRequest,
): Promise<Answer<PaymentResult>> {
  const { database } = context
  const { quoteId } = request
  const requestFingerprint = fingerprint([request.kind, request.wallet, ...request.body])
  const finding = database.read((db) => findByQuote(db, quoteId))
  const known = await within(finding, askDeadlineMs, 'the database') // Before anything is stored.
  if (known) return resume(context, known, requestFingerprint)

  for (let tries = 0; tries < triesMax; tries++) {
    const stored = await store(context, request, requestFingerprint)
    if ('refused' in stored) {
      // A concurrent retry may have succeeded and caused this refusal.
      const first = await database.read((db) => findByQuote(db, quoteId))
      return first ? resume(context, first, requestFingerprint) : stored
    }
    if (stored.ok === 'changed') continue
    if ('rival' in stored.ok) return resultOfRival(context, stored.ok.rival)
    failpoint('payments:row-stored')
    return finish(context, stored.ok.made)
  }
  return refuse('provider_unavailable')
}

type Stored = 'changed' | { rival: PaymentRow } | { made: PaymentRow }

/** Runs every check and stores the promise, leased to the caller, before its quote is taken. */
async function store(
  context: Context,
  request: PaymentRequest,
  requestFingerprint: string,
): Promise<Answer<Stored>> {
  const { database, treasury } = context
  const { quoteId } = request
  const admitted = await request.admit()
  if ('refused' in admitted) return admitted
  const quote = await askOr(context, QuoteFind, { quoteId, requestFingerprint }, 'rate_unavailable')
  if ('refused' in quote) return quote
  const price = admitted.ok(quote.ok)
  if ('refused' in price) return price
  const { pair, rate, spreadBps } = quote.ok
  const terms = { ...price.ok, pair, rateMinorPerUsd: BigInt(rate) }
  const looked = await request.look?.(terms)
  if (looked && 'refused' in looked) return looked
  const reading = await treasury.current()
  return database.transaction(async (tx): Promise<Answer<Stored>> => {
    await lockWallet(tx, request.wallet)
    const may = await request.mayStore(tx, terms, reading)
    if ('refused' in may) return may
    if (may.ok === 'changed') return ok('changed')
    if ('rival' in may.ok) return ok({ rival: may.ok.rival })
    const row = rowFor(context, { ...request, requestFingerprint }, { ...terms, spreadBps })
    const made = await insertPayment(tx, row, openingLeaseMs)
    // Undefined if a request with the same quote stored its row first.
    return made ? ok({ made }) : refuse('quote_used')
  })
}

const fingerprint = (parts: readonly string[]) =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url')

function rowFor(
  { clock, recheckAfterMs }: Context,
  request: PaymentRequest & { requestFingerprint: string },
  terms: Terms & { spreadBps: number },
): NewPayment {
  const now = clock()
  const row = {
    id: idFor('payment', request.quoteId),
    kind: request.kind,
    state: 'opening',
    wallet: request.wallet,
    ...terms,
    method: request.method,
    quoteId: request.quoteId,
    requestFingerprint: request.requestFingerprint,
    requestId: requestId() ?? null,
    account: accountFor(terms.currency),
    createdAt: new Date(now),
    topupAt: new Date(now),
  } as const
  return {
    ...row,
    nextCheckAt: nextCheck({ ...row, checks: 0, expiresAt: null }, now, recheckAfterMs),
  }
}

/** Lease on opening a payment; longer than taking a quote and one attempt at the provider. */
const openingLeaseMs = 9_000

/**
 * Takes the quote of a stored payment, ends an earlier checkout for the same debt, and opens its
 * own. Every step may be repeated, so a retry goes on wherever a crash stopped it. The caller holds
 * the lease on `payment`.
 */
async function finish(context: Context, payment: PaymentRow): Promise<Answer<PaymentResult>> {
  const { quoteId, requestFingerprint } = payment
  const taken = await askOr(context, QuoteTake, { quoteId, requestFingerprint }, 'rate_unavailable')
  if ('refused' in taken) return giveUp(context, payment, taken.refused)
  failpoint('payments:quote-taken')
  const ended = payment.kind === 'settlement' ? await endEarlier(context, payment) : ok({})
  if ('refused' in ended) return giveUp(context, payment, ended.refused)
  return openCheckout(context, payment)
}

type Why = Extract<Answer<never>, { refused: string }>['refused']
/** Refusals after which the same request may still succeed. */
const passing: ReadonlySet<Why> = new Set(['rate_unavailable', 'provider_unavailable'])

/** Ends a payment that was refused after it was stored, or leaves it to the retry. */
async function giveUp(context: Context, payment: PaymentRow, refused: Why) {
  if (passing.has(refused)) await releaseOpening(context, payment)
  else
    await context.database.transaction(async (tx) => {
      const row = await lockPayment(tx, payment.id)
      if (row?.state === 'opening') await expire(tx, context, row)
    })
  return refuse(refused)
}

/** Returns the first response to a retry, or opens the checkout if that has not happened yet. */
async function resume(
  context: Context,
  payment: PaymentRow,
  requestFingerprint: string,
): Promise<Answer<PaymentResult>> {
  if (payment.requestFingerprint !== requestFingerprint) return refuse('quote_used')
  const result = resultOf(payment)
  if (result) return ok(result)
  // The rate was locked for a minute; do not open checkouts at it much later.
  const ageMs = context.clock() - payment.createdAt.getTime()
  if (payment.state !== 'opening' || ageMs > reopenMaxMs) return refuse('quote_expired')
  const leased = await context.database.run((db) => leaseOpening(db, payment.id, openingLeaseMs))
  return leased ? finish(context, leased) : awaitOther(context, payment.quoteId)
}

/** Returns the response about another payment that serves this request as well. */
async function resultOfRival(context: Context, rival: PaymentRow): Promise<Answer<PaymentResult>> {
  const result = resultOf(rival)
  return result ? ok(result) : awaitOther(context, rival.quoteId)
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
