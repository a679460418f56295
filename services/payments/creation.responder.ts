import { createHash } from 'node:crypto'
import type { Ask } from '#shared/bus/ask'
import type { Tx } from '#shared/db/open'
import { failpoint } from '#shared/failpoint'
import { idFor } from '#shared/ids'
import { QuoteFind, QuoteTake } from '#shared/messages/pricing'
import { accountFor, type Pair } from '#shared/money/pair'
import { type Answer, refuse } from '#shared/refusals'
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
  /** Ends what stands in the way, once everything else is in order; and whether anything did. */
  readonly makeWay?: () => Promise<Answer<{ stoodInTheWay: boolean }>>
  /** Looked at under the lock of the wallet, in the transaction that stores the payment. */
  readonly may?: (tx: Tx) => Promise<boolean>
}

/** So often the world may change between a look and the deed before we ask the user to come again. */
const triesMax = 4

/**
 * Creates a payment for a quote, once. A repeat is answered before anything else is asked, so that
 * it gets its first answer also when the quote has expired or the debt has changed since. A refusal
 * changes nothing, and leaves the quote to be used.
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

  for (let tries = 0; tries < triesMax; tries++) {
    const admitted = await wish.admit()
    if ('refused' in admitted) return admitted
    const seen = await askOr(ask, QuoteFind, { quoteId, takenBy }, 'rate_unavailable')
    if ('refused' in seen) return seen
    const price = admitted.ok(seen.ok)
    if ('refused' in price) return price
    const way = await wish.makeWay?.()
    if (way && 'refused' in way) return way
    // What stood in the way may have changed the debt: it is read anew.
    if (way?.ok.stoodInTheWay) continue

    const taken = await askOr(ask, QuoteTake, { quoteId, takenBy }, 'rate_unavailable')
    if ('refused' in taken) return taken
    failpoint('payments:quote-taken')
    const row = rowFor(creation, { ...wish, quoteId, takenBy }, taken.ok, price.ok)
    const opened = await openNew(creation, row, wish.may)
    if (opened) return opened
  }
  return refuse('provider_unavailable')
}

function rowFor(
  { context }: Creation,
  wish: Wish & { takenBy: string },
  quote: Quote,
  price: Price,
): NewPayment {
  const now = context.clock()
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
  const lookAt = nextLook({ ...row, looks: 0, expiresAt: null }, now, context.sweepAfterMs)
  return { ...row, lookAt }
}

const fingerprint = (parts: readonly string[]) =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
