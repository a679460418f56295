import { type Answering, answering } from '#shared/bus/serve'
import { failpoint } from '#shared/failpoint'
import { PricingTerms, QuoteCreate, QuoteFind, QuoteTake, RateFind } from '#shared/messages/pricing'
import { type Pair, pairs } from '#shared/money/pair'
import { type Answer, ok, refuse } from '#shared/refusals'
import type { Context } from './context'
import type { RateVerdict } from './decide'
import type { Mint } from './mint'
import { judgeTaker, type Quote } from './quote'
import { readQuoteId } from './quote-id'
import { findTaking, insertTaking } from './taking.store'

/**
 * Tells the rate of the moment, locks it in a quote, and gives the quote to whoever takes it first.
 * Anybody may ask for a quote, so it costs nothing: its id carries it, and only its use is stored
 * and logged. A line for each that nobody takes would cost more than making it, and fill a disk.
 */
export function answerQuotes(
  context: Context,
  { rateOf, mint }: { rateOf: (pair: Pair) => RateVerdict; mint: Mint['mint'] },
): Answering[] {
  return [
    answering(PricingTerms, async () =>
      ok({ pairs: [...pairs], quoteSeconds: Math.floor(context.quoteTtlMs / 1_000) }),
    ),
    answering(QuoteCreate, async ({ pair }) => {
      const verdict = rateOf(pair)
      if ('unavailable' in verdict) return refuse('rate_unavailable')
      const { minorPerUsd, spreadBps } = verdict
      const quote = mint({ pair, minorPerUsd, spreadBps })
      if (!quote) return refuse('rate_unavailable')
      return ok(wire(quote))
    }),
    answering(RateFind, async ({ pair }) => {
      const verdict = rateOf(pair)
      if ('unavailable' in verdict) return refuse('rate_unavailable')
      return ok({ pair, rate: verdict.minorPerUsd.toString() })
    }),
    answering(QuoteFind, async ({ quoteId, takenBy }) => {
      const found = await findFor(context, takenBy, quoteOf(context, quoteId))
      return 'refused' in found ? found : ok(wireWhole(found.ok))
    }),
    answering(QuoteTake, async ({ quoteId, takenBy }) => {
      const taken = await take(context, takenBy, quoteOf(context, quoteId))
      failpoint('pricing:quote-taken')
      return 'refused' in taken ? taken : ok(wireWhole(taken.ok))
    }),
  ]
}

/** The quote that an id is, in whatever case it is written; undefined when we never made it. */
function quoteOf({ quoteSecrets }: Context, written: string): Quote | undefined {
  const id = written.toLowerCase()
  const lock = readQuoteId(quoteSecrets, id)
  return lock && { id, ...lock }
}

/** What taking would answer now, without taking. */
async function findFor(
  { database }: Context,
  taker: string,
  quote: Quote | undefined,
): Promise<Answer<Quote>> {
  if (!quote) return refuse('quote_unknown')
  return judgeTaker(quote, taker, await database.read((db) => findTaking(db, quote.id)))
}

/** Gives the quote to its first taker; of what is not ours nothing is stored. */
async function take(
  context: Context,
  taker: string,
  quote: Quote | undefined,
): Promise<Answer<Quote>> {
  if (!quote) return refuse('quote_unknown')
  if (await context.database.run((db) => insertTaking(db, quote, taker))) {
    const { id: quoteId, pair, minorPerUsd, spreadBps } = quote
    const rate = { minorPerUsd: minorPerUsd.toString(), spreadBps: Number(spreadBps) }
    context.log.info({ quoteId, pair, ...rate }, 'quote taken')
    return ok(quote)
  }
  // Somebody has it, perhaps a repeat of this call, or it has expired: what is there never changes.
  const { takenBy, nowMs } = await context.database.read((db) => findTaking(db, quote.id))
  const judged = judgeTaker(quote, taker, { takenBy, nowMs })
  if ('ok' in judged && takenBy === null)
    throw new Error(`quote ${quote.id} was neither taken nor expired`)
  return judged
}

const wire = ({ id, pair, minorPerUsd, expiresAtMs }: Quote) => ({
  id,
  pair,
  rate: minorPerUsd.toString(),
  expiresAt: new Date(expiresAtMs).toISOString(),
})

/** With the spread, which is the books' business and not the app's. */
const wireWhole = (quote: Quote) => ({ ...wire(quote), spreadBps: Number(quote.spreadBps) })
