import { randomInt } from 'node:crypto'
import { type Answering, answering } from '#shared/bus/serve'
import { failpoint } from '#shared/failpoint'
import { QuoteCreate, QuoteFind, QuoteTake, RateFind } from '#shared/messages/pricing'
import type { Pair } from '#shared/money/pair'
import { ok, refuse } from '#shared/refusals'
import type { Context } from './context'
import type { RateVerdict } from './decide'
import { findQuote, type Lock, lockQuote, type Quote } from './quote'
import { mintQuoteId, serialEnd } from './quote-id'

/**
 * Tells the rate of the moment, locks it in a quote, and gives the quote to whoever takes it first.
 * Anybody may ask for a quote, so it costs nothing: its id carries it, and only its use is stored.
 */
export function answerQuotes(context: Context, rateOf: (pair: Pair) => RateVerdict): Answering[] {
  const { quotes, quoteTtlMs: ttlMs, clock, log } = context
  const mint = openMint(context.quoteSecrets)
  return [
    answering(QuoteCreate, async ({ pair }) => {
      const verdict = rateOf(pair)
      if ('unavailable' in verdict) return refuse('rate_unavailable')
      const { minorPerUsd, reference, spreadBps } = verdict
      const quote = lockQuote(mint, { pair, minorPerUsd, spreadBps }, { nowMs: clock(), ttlMs })
      const from = { source: reference.source, asOf: new Date(reference.asOfMs).toISOString() }
      log.info(
        {
          quoteId: quote.id,
          pair,
          minorPerUsd: String(minorPerUsd),
          spreadBps: Number(spreadBps),
          ...from,
        },
        'quote locked',
      )
      return ok(wire(quote))
    }),
    answering(RateFind, async ({ pair }) => {
      const verdict = rateOf(pair)
      if ('unavailable' in verdict) return refuse('rate_unavailable')
      return ok({ pair, rate: verdict.minorPerUsd.toString() })
    }),
    answering(QuoteFind, async ({ quoteId, takenBy }) => {
      const found = findQuote(await quotes.find(quoteId), takenBy, clock())
      return 'refused' in found ? found : ok(wireWhole(found.ok))
    }),
    answering(QuoteTake, async ({ quoteId, takenBy }) => {
      const taking = await quotes.take(quoteId, takenBy, clock)
      failpoint('pricing:quote-taken')
      if ('refused' in taking) return taking
      if (taking.write) log.info({ quoteId: taking.taken.id }, 'quote taken')
      return ok(wireWhole(taking.taken))
    }),
  ]
}

/**
 * Makes ids with the first secret. Serial numbers go round from a random one, so that copies of the
 * service rarely give the same id at the same moment; if so, whoever takes it second is refused.
 */
function openMint([secret]: Context['quoteSecrets']): (lock: Lock) => string {
  let serial = randomInt(serialEnd)
  return (lock) => {
    serial = (serial + 1) % serialEnd
    return mintQuoteId(secret, lock, serial)
  }
}

const wire = ({ id, pair, minorPerUsd, expiresAtMs }: Quote) => ({
  id,
  pair,
  rate: minorPerUsd.toString(),
  expiresAt: new Date(expiresAtMs).toISOString(),
})

/** With the spread, which is the books' business and not the app's. */
const wireWhole = (quote: Quote) => ({ ...wire(quote), spreadBps: Number(quote.spreadBps) })
