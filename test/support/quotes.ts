import type { QuotedTopupFees } from '#shared/money/topup-fee'
import { type Answer, ok, refuse } from '#shared/refusals'

type LockedQuote = {
  pair: string
  rate: string
  spreadBps: number
  cashoutFee?: { fixed: string; bps: number }
  topupFees?: QuotedTopupFees
  requestFingerprint?: string
  over?: true
  /** Faults of a taking: it `breaks` before the quote is taken, or its response is `lost` afterwards. */
  breaks?: true
  lost?: true
  /** True if the quote expires after it was found. */
  expiresOnTake?: true
}

/** Opens quotes that act as pricing: `quote()` issues one, `answer` finds and takes it. */
export function openQuotes() {
  const quotes = new Map<string, LockedQuote>()
  const quote = (pair = 'USD/IDR', rate = '16250', spreadBps = 0) => {
    const id = crypto.randomUUID()
    quotes.set(id, { pair, rate, spreadBps })
    return id
  }
  /** Rates by pair; a missing pair has no fresh rate. */
  const present = new Map([
    ['USD/IDR', '16250'],
    ['USD/MYR', '421'],
  ])
  const answer = (subject: string, request: Record<string, string>): Answer<unknown> => {
    if (subject === 'pricing.rate.find') {
      const rate = present.get(request.pair!)
      return rate ? ok({ pair: request.pair, rate }) : refuse('rate_unavailable')
    }
    const locked = quotes.get(request.quoteId!)
    if (!locked) return refuse('quote_unknown')
    if (locked.requestFingerprint && locked.requestFingerprint !== request.requestFingerprint)
      return refuse('quote_used')
    const isTaken = subject === 'pricing.quote.take'
    if (locked.expiresOnTake && isTaken) locked.over = true
    // A taken quote is returned to its taker again, but is found only while it is valid.
    if (locked.over && !(isTaken && locked.requestFingerprint)) return refuse('quote_expired')
    if (locked.breaks && isTaken) return refuse('rate_unavailable')
    if (isTaken) locked.requestFingerprint = request.requestFingerprint!
    if (locked.lost && isTaken) return refuse('rate_unavailable')
    return ok({ id: request.quoteId, ...locked, expiresAt: '' })
  }
  return { quotes, quote, present, answer }
}
