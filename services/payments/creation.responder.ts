import { createHash } from 'node:crypto'
import type { Ask } from '#shared/bus/ask'
import { failpoint } from '#shared/failpoint'
import { idFor } from '#shared/ids'
import { QuoteFind, QuoteTake } from '#shared/messages/pricing'
import { accountFor, type Pair } from '#shared/money/pair'
import type { Answer } from '#shared/refusals'
import { askOr } from './asking'
import { type Checkouts, openNew, type PaymentResult, resume } from './checkout.responder'
import { nextLook } from './look'
import type { PaymentKind } from './payment'
import { findByQuote, type NewPayment } from './payment.store'
import type { Method, Price } from './topup'

export type Creation = Checkouts & { readonly ask: Ask }
export type Quote = { pair: Pair; rate: string }

export type Wish = {
  readonly kind: PaymentKind
  readonly wallet: `0x${string}`
  readonly quoteId: string
  readonly method: Method | null
  /** What besides the wallet makes this request another one than a repeat. */
  readonly body: readonly string[]
  /** The checks that need nobody's quote; a refusal ends the matter before the quote is asked for. */
  readonly admit: () => Promise<Answer<(quote: Quote) => Answer<Price>>>
}

/**
 * Creates a payment for a quote, once. A repeat is answered before anything else is asked, so that
 * it gets its first answer also when the quote has expired or the debt has changed since.
 */
export async function createPayment(
  creation: Creation,
  wish: Wish,
): Promise<Answer<PaymentResult>> {
  const { database, ask } = creation
  const quoteId = wish.quoteId.toLowerCase()
  const takenBy = fingerprint([wish.kind, wish.wallet, ...wish.body])
  const known = await database.read((db) => findByQuote(db, quoteId))
  if (known) return resume(creation, known, takenBy)

  const admitted = await wish.admit()
  if ('refused' in admitted) return admitted
  const seen = await askOr(ask, QuoteFind, { quoteId, takenBy }, 'rate_unavailable')
  if ('refused' in seen) return seen
  const price = admitted.ok(seen.ok)
  if ('refused' in price) return price

  const taken = await askOr(ask, QuoteTake, { quoteId, takenBy }, 'rate_unavailable')
  if ('refused' in taken) return taken
  failpoint('payments:quote-taken')
  return openNew(creation, rowFor(creation, { ...wish, quoteId, takenBy }, taken.ok, price.ok))
}

function rowFor(
  { desk }: Creation,
  wish: Wish & { takenBy: string },
  quote: Quote,
  price: Price,
): NewPayment {
  const now = desk.clock()
  const row = {
    id: idFor('payment', wish.quoteId),
    kind: wish.kind,
    state: 'opening',
    wallet: wish.wallet,
    pair: quote.pair,
    rateMinorPerUsd: BigInt(quote.rate),
    ...price,
    method: wish.method,
    quoteId: wish.quoteId,
    takenBy: wish.takenBy,
    account: accountFor(price.currency),
    createdAt: new Date(now),
  } as const
  const lookAt = nextLook({ ...row, looks: 0, expiresAt: null }, now, desk.sweepAfterMs)
  return { ...row, lookAt }
}

const fingerprint = (parts: readonly string[]) =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
