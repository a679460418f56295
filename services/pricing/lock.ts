import { type Handler, handler } from '#platform/bus/serve'
import { failpoint } from '#platform/failpoint'
import { PricingTerms, QuoteCreate, QuoteFind, QuoteTake, RateFind } from '#shared/messages/pricing'
import { type Pair, pairs } from '#shared/money/pair'
import { type Answer, ok, refuse } from '#shared/refusals'
import type { Context } from './context'
import type { RateVerdict } from './decide'
import { isExpired, judgeTaker, type Lock, type Quote, validFromMs } from './quote'
import { readQuoteId } from './quote-id'
import type { QuoteIssuer } from './quote-issuer'
import { minorPerUsdText, type Sighting } from './rate'
import { findTaking, insertTaking } from './taking.store'

export function lockQuotes(
  context: Context,
  { rateOf, mint }: { rateOf: (pair: Pair) => RateVerdict; mint: QuoteIssuer },
): Handler[] {
  return [
    handler(PricingTerms, async () => ok({ pairs: [...pairs], quoteSeconds: Math.floor(context.quoteTtlMs / 1_000) })),
    handler(QuoteCreate, async ({ pair }) => {
      const verdict = rateOf(pair)
      if ('unavailable' in verdict) return refuse('rate_unavailable')
      const { minorPerUsd, spreadBps, paysOut, reference } = verdict
      const quote = mint({ pair, minorPerUsd, spreadBps, payInOnly: !paysOut })
      return ok({ ...wire(quote), cashouts: pair === 'USD/IDR' && paysOut, reference: wireReference(reference) })
    }),
    handler(RateFind, async ({ pair }) => {
      const verdict = rateOf(pair)
      if ('unavailable' in verdict) return refuse('rate_unavailable')
      return ok({ pair, rate: verdict.minorPerUsd.toString() })
    }),
    handler(QuoteFind, async ({ quoteId, requestFingerprint, use }) => {
      const quote = quoteFor(context, quoteId, use)
      const found = 'refused' in quote ? quote : await findFor(context, requestFingerprint, quote.ok)
      return 'refused' in found ? found : ok(wire(found.ok))
    }),
    handler(QuoteTake, async ({ quoteId, requestFingerprint, use }) => {
      const quote = quoteFor(context, quoteId, use)
      const taken = 'refused' in quote ? quote : await take(context, requestFingerprint, quote.ok)
      failpoint('pricing:quote-taken')
      return 'refused' in taken ? taken : ok(wire(taken.ok))
    }),
  ]
}

/** Reads the quote in an id, for a use of it. */
function quoteFor(
  { quoteSecrets, quoteTtlMs }: Context,
  written: string,
  use: 'pay_in' | 'pay_out' | undefined,
): Answer<Quote> {
  const id = written.toLowerCase()
  const lock = readQuoteId(quoteSecrets, id)
  if (!lock) return refuse('quote_unknown')
  // guard: a quote for money that comes in prices no cash-out
  if (lock.payInOnly && use !== 'pay_in') return refuse('cashout_rate_unavailable')
  return ok({ id, ...lock, validFromMs: validFromMs(lock, quoteTtlMs) })
}

/** Finds a quote. An expired one is refused to its own taker too, so that no promise begins at an old rate. */
async function findFor({ database }: Context, taker: string, quote: Quote): Promise<Answer<Quote>> {
  const { requestFingerprint, nowMs } = await database.read((db) => findTaking(db, quote.id))
  const judged = judgeTaker(quote, taker, { requestFingerprint, nowMs })
  return 'ok' in judged && isExpired(quote, nowMs) ? refuse('quote_expired') : judged
}

async function take(context: Context, taker: string, quote: Quote): Promise<Answer<Quote>> {
  if (await context.database.run((db) => insertTaking(db, quote, taker))) {
    const { id: quoteId, pair, minorPerUsd, spreadBps } = quote
    const rate = { minorPerUsd: minorPerUsd.toString(), spreadBps: Number(spreadBps) }
    context.log.info({ quoteId, pair, ...rate }, 'quote taken')
    return ok(quote)
  }
  // The quote is expired or taken, perhaps by an earlier try of the same taker.
  const { requestFingerprint, nowMs } = await context.database.read((db) => findTaking(db, quote.id))
  const judged = judgeTaker(quote, taker, { requestFingerprint, nowMs })
  if ('ok' in judged && requestFingerprint === null) throw new Error(`quote ${quote.id} is neither taken nor expired`)
  return judged
}

const wire = ({ id, pair, minorPerUsd, expiresAtMs, spreadBps }: Lock & { id: string }) => ({
  id,
  pair,
  rate: minorPerUsd.toString(),
  expiresAt: new Date(expiresAtMs).toISOString(),
  spreadBps: Number(spreadBps),
})

const wireReference = (reference: Sighting) => ({
  rate: minorPerUsdText(reference),
  source: reference.source,
  asOf: new Date(reference.asOfMs).toISOString(),
})
