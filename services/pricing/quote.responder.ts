import { randomUUID } from 'node:crypto'
import { type Answering, answering } from '#shared/bus/serve'
import type { Clock } from '#shared/clock'
import { failpoint } from '#shared/failpoint'
import type { Log } from '#shared/log'
import { QuoteCreate, QuoteFind, QuoteTake } from '#shared/messages/pricing'
import type { Pair } from '#shared/money/pair'
import { ok, refuse } from '#shared/refusals'
import type { QuoteStore } from './quote.store.ts'
import { findQuote, lockQuote, type Quote } from './quote.ts'
import type { RateVerdict } from './rate-guard.ts'

export type QuoteDesk = {
  store: QuoteStore
  rateOf: (pair: Pair) => RateVerdict
  ttlMs: number
  clock: Clock
  log: Log
}

/** The answers of pricing. A quote is handed out only after the bucket confirmed it. */
export const quoteAnswers = ({ store, rateOf, ttlMs, clock, log }: QuoteDesk): Answering[] => [
  answering(QuoteCreate, async ({ pair }) => {
    const verdict = rateOf(pair)
    if ('unavailable' in verdict) return refuse('rate_unavailable')
    const { minorPerUsd, reference, spreadBps } = verdict
    const quote = lockQuote(randomUUID(), { pair, minorPerUsd }, { nowMs: clock(), ttlMs })
    await store.add(quote)
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
  answering(QuoteFind, async ({ quoteId, takenBy }) => {
    const found = findQuote(await store.find(quoteId), takenBy, clock())
    return 'refused' in found ? found : ok(wire(found.ok))
  }),
  answering(QuoteTake, async ({ quoteId, takenBy }) => {
    const taking = await store.take(quoteId, takenBy, clock)
    failpoint('pricing:quote-taken')
    if ('refused' in taking) return taking
    if (taking.write) log.info({ quoteId: taking.taken.id }, 'quote taken')
    return ok(wire(taking.taken))
  }),
]

const wire = ({ id, pair, minorPerUsd, expiresAtMs }: Quote) => ({
  id,
  pair,
  rate: minorPerUsd.toString(),
  expiresAt: new Date(expiresAtMs).toISOString(),
})
