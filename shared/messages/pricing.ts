import { Type } from 'typebox'
import { Amount, FiatAmount, Pair, Timestamp, Uuid } from '#shared/messages/fields'
import { question } from '#shared/messages/topic'

const Locked = Type.Object(
  { id: Uuid, pair: Pair, rate: FiatAmount, expiresAt: Timestamp },
  {
    title: 'Quote',
    description: 'A locked rate, in smallest units of the local currency per US dollar.',
  },
)
/** A quote with the spread included in its rate, in basis points of the rate before the spread. */
const Found = Type.Object({ ...Locked.properties, spreadBps: Type.Integer({ minimum: 0 }) })

/** Locks the current rate for 60 seconds. Refused: rate_unavailable. */
export const QuoteCreate = question('pricing.quote.create', 'pricing', ['gateway'], {
  request: Type.Object({ pair: Pair }),
  answer: Locked,
  repeat: 'changes nothing',
})

/** Currency pairs, and the validity of a quote. */
export const PricingTerms = question('pricing.terms', 'pricing', ['gateway'], {
  request: Type.Object({}),
  answer: Type.Object({
    pairs: Type.Array(Pair, { description: 'Currency pairs that can be quoted.' }),
    quoteSeconds: Type.Integer(),
  }),
  repeat: 'changes nothing',
})

/** Current rate, without locking it. Refused: rate_unavailable. */
export const RateFind = question('pricing.rate.find', 'pricing', ['payments'], {
  request: Type.Object({ pair: Pair }),
  answer: Type.Object({ pair: Pair, rate: Amount }),
  repeat: 'changes nothing',
})

/**
 * Looks a quote up without taking it, for a promise that has no row yet. Refused: quote_unknown,
 * quote_used by another taker, quote_expired for its own taker too.
 */
export const QuoteFind = question('pricing.quote.find', 'pricing', ['payments', 'payouts'], {
  request: Type.Object({ quoteId: Uuid, requestFingerprint: Type.String() }),
  answer: Found,
  repeat: 'changes nothing',
})

/**
 * Takes a quote. `requestFingerprint` identifies wallet, purpose and request body: the same taker gets the
 * same answer again, even after expiry; any other is refused with quote_used.
 */
export const QuoteTake = question('pricing.quote.take', 'pricing', ['payments', 'payouts'], {
  request: Type.Object({ quoteId: Uuid, requestFingerprint: Type.String() }),
  answer: Found,
  repeat: 'once by its key',
})
