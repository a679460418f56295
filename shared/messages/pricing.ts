import { Type } from 'typebox'
import { Amount, FiatAmount, Pair, Timestamp, Uuid } from '#shared/messages/fields'
import { question } from '#shared/messages/topic'

const Locked = Type.Object(
  { id: Uuid, pair: Pair, rate: FiatAmount, expiresAt: Timestamp },
  {
    title: 'Quote',
    description: 'A locked rate: smallest units of the local currency for one US dollar.',
  },
)
/** Beside the rate the spread in it: whole basis points of the rate before. */
const Found = Type.Object({ ...Locked.properties, spreadBps: Type.Integer({ minimum: 0 }) })

/** Locks the current rate for 60 seconds. Refused: rate_unavailable. */
export const QuoteCreate = question('pricing.quote.create', 'pricing', ['gateway'], {
  request: Type.Object({ pair: Pair }),
  answer: Locked,
  repeat: 'changes nothing',
})

/** What a quote can be asked for, and how long it is good. */
export const PricingTerms = question('pricing.terms', 'pricing', ['gateway'], {
  request: Type.Object({}),
  answer: Type.Object({
    pairs: Type.Array(Pair, { description: 'What a quote may be asked for.' }),
    quoteSeconds: Type.Integer(),
  }),
  repeat: 'changes nothing',
})

/** The rate of this moment, locked for nobody. Refused: rate_unavailable. */
export const RateFind = question('pricing.rate.find', 'pricing', ['payments'], {
  request: Type.Object({ pair: Pair }),
  answer: Type.Object({ pair: Pair, rate: Amount }),
  repeat: 'changes nothing',
})

/** Looks without taking. Refused: quote_unknown, quote_expired, quote_used. */
export const QuoteFind = question('pricing.quote.find', 'pricing', ['payments', 'payouts'], {
  request: Type.Object({ quoteId: Uuid, takenBy: Type.String() }),
  answer: Found,
  repeat: 'changes nothing',
})

/**
 * Takes the quote for one caller. `takenBy` names wallet, purpose and body: the same taker gets the
 * same answer again, also after expiry; anybody else is refused quote_used.
 */
export const QuoteTake = question('pricing.quote.take', 'pricing', ['payments', 'payouts'], {
  request: Type.Object({ quoteId: Uuid, takenBy: Type.String() }),
  answer: Found,
  repeat: 'once by its key',
})
