import { type Handler, handler } from '#platform/bus/serve'
import { failpoint } from '#platform/failpoint'
import { PricingTerms, QuoteCreate, QuoteFind, QuoteTake, RateFind } from '#shared/messages/pricing'
import { isFree } from '#shared/money/fee'
import { type Pair, pairs } from '#shared/money/pair'
import { noTopupFees, wireTopupFees } from '#shared/money/topup-fee'
import { type Answer, ok, refuse } from '#shared/refusals'
import type { Context } from './context'
import { type RateVerdict, spreadCurve } from './decide'
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
    handler(PricingTerms, async () =>
      ok({
        pairs: [...pairs],
        quoteSeconds: Math.floor(context.quoteTtlMs / 1_000),
        ...feeOf(context),
        ...feesOfAll(context),
        spreads: pairs.flatMap((pair) => spreadCurve(pair, context.guards)).map(wireSpread),
      }),
    ),
    handler(QuoteCreate, async ({ pair, use }) => {
      const verdict = rateOf(pair)
      if ('unavailable' in verdict) return refuse('rate_unavailable')
      const priced = priceFor(pair, use, verdict)
      if ('refused' in priced) return priced
      const quote = mint({ pair, ...priced.ok })
      const cashouts = pair === 'USD/IDR' && quote.use !== 'pay_in'
      return ok({
        ...wire(quote),
        cashouts,
        ...(cashouts && feeOf(context)),
        ...(quote.use !== 'pay_out' && feesOf(context, pair)),
        reason: verdict.state,
        reference: wireReference(verdict.reference),
      })
    }),
    handler(RateFind, async ({ pair }) => {
      const verdict = rateOf(pair)
      if ('unavailable' in verdict) return refuse('rate_unavailable')
      return ok({ pair, rate: verdict.payIn.minorPerUsd.toString() })
    }),
    handler(QuoteFind, async ({ quoteId, requestFingerprint, use }) => {
      const quote = quoteFor(context, quoteId, use)
      const found = 'refused' in quote ? quote : await findFor(context, requestFingerprint, quote.ok)
      if ('refused' in found) return found
      const fees = use === 'pay_out' ? feeOf(context) : feesOf(context, found.ok.pair)
      return ok({ ...wire(found.ok), ...fees })
    }),
    handler(QuoteTake, async ({ quoteId, requestFingerprint, use }) => {
      const quote = quoteFor(context, quoteId, use)
      const taken = 'refused' in quote ? quote : await take(context, requestFingerprint, quote.ok)
      failpoint('pricing:quote-taken')
      return 'refused' in taken ? taken : ok(wire(taken.ok))
    }),
  ]
}

/** Returns the fee of a cash-out as messages have it, or nothing without one. */
const feeOf = ({ cashoutFee }: Context) =>
  isFree(cashoutFee) ? {} : { cashoutFee: { fixed: `${cashoutFee.fixedMinor}`, bps: Number(cashoutFee.bps) } }

/** Returns the fees of the top-ups of a pair as messages have them, or nothing without fees. */
function feesOf({ topupFees }: Context, pair: Pair) {
  const fees = topupFees.get(pair) ?? noTopupFees
  return fees.length === 0 ? {} : { topupFees: wireTopupFees(fees) }
}

function feesOfAll({ topupFees }: Context) {
  const fees = pairs.flatMap((pair) =>
    wireTopupFees(topupFees.get(pair) ?? noTopupFees).map((fee) => ({ pair, ...fee })),
  )
  return fees.length === 0 ? {} : { topupFees: fees }
}

type Priced = Pick<Lock, 'minorPerUsd' | 'spreadBps' | 'use'>

/**
 * Prices a quote. While the market is open, one quote serves both directions. Otherwise each direction has its own spread,
 * and a quote without a `use` is for money that comes in.
 */
function priceFor(
  pair: Pair,
  use: 'pay_in' | 'pay_out' | undefined,
  { payIn, payOut }: Exclude<RateVerdict, { unavailable: string }>,
): Answer<Priced> {
  const isForBoth = payOut !== null && payOut.spreadBps >= 0n
  if (use !== 'pay_out') return ok({ ...payIn, use: isForBoth ? 'any' : 'pay_in' })
  if (pair !== 'USD/IDR') return refuse('quote_not_idr')
  return payOut ? ok({ ...payOut, use: isForBoth ? 'any' : 'pay_out' }) : refuse('cashout_rate_unavailable')
}

/** Reads the quote in an id, for a use of it. */
function quoteFor(
  { quoteSecrets, quoteTtlMs, ...fees }: Context,
  written: string,
  use: 'pay_in' | 'pay_out' | undefined,
): Answer<Quote> {
  const id = written.toLowerCase()
  const lock = readQuoteId(quoteSecrets, id, fees)
  if (!lock) return refuse('quote_unknown')
  // guard: a quote for money that comes in prices no cash-out
  if (lock.use === 'pay_in' && use !== 'pay_in') return refuse('cashout_rate_unavailable')
  // guard: a quote for cash-outs prices no money that comes in
  if (lock.use === 'pay_out' && use !== 'pay_out') return refuse('quote_for_cashouts')
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

const wireSpread = ({ spreadBpsMin, spreadBpsMax, state, ...row }: ReturnType<typeof spreadCurve>[number]) => ({
  ...row,
  reason: state,
  spreadBpsMin: Number(spreadBpsMin),
  spreadBpsMax: Number(spreadBpsMax),
})

const wireReference = (reference: Sighting) => ({
  rate: minorPerUsdText(reference),
  source: reference.source,
  asOf: new Date(reference.asOfMs).toISOString(),
})
