import { Type } from 'typebox'
import { Amount, FiatAmount, Pair, Timestamp, Uuid } from '#shared/messages/fields'
import { question } from '#shared/messages/topic'
import { feeChannels } from '#shared/money/topup-fee'

const locked = { id: Uuid, pair: Pair, rate: FiatAmount, expiresAt: Timestamp }
const SpreadBps = Type.Integer({
  description:
    'Spread in `rate`, in hundredths of a percent of the reference rate. Negative in a quote for cash-outs while the ' +
    'market of the rupiah is closed.',
})
/** States of a rate, which decide how wide the spread is and whether there are cash-outs. */
export const rateStates = ['market_open', 'market_closed', 'no_cross_check', 'sources_differ'] as const
export type RateState = (typeof rateStates)[number]
const Reason = Type.Enum([...rateStates], {
  title: 'SpreadReason',
  description:
    'Why the spread is as wide as it is: the market is open, or closed; no other source confirms the rate; or sources ' +
    'differ.',
})
const CashoutFee = Type.Object(
  {
    fixed: FiatAmount,
    bps: Type.Integer({ description: 'Part of the payout before the fee, in hundredths of a percent, rounded up.' }),
  },
  {
    title: 'CashoutFee',
    description:
      'Fee of a cash-out, which its payout in rupiah is reduced by: a fixed amount and a part of the payout. Omitted without a fee.',
  },
)
const topupFee = {
  channel: Type.Enum([...feeChannels], {
    description: 'Kind of the channel that the payer uses at the checkout, whatever `method` was asked for.',
  }),
  fixed: FiatAmount,
  bps: Type.Integer({ description: 'Part of the amount paid, in hundredths of a percent, rounded down.' }),
}
/** Fees of top-ups of one currency, omitted without fees. */
export const TopupFees = Type.Optional(
  Type.Array(
    Type.Object(topupFee, {
      title: 'TopupFee',
      description:
        'Fee of a top-up through one kind of channel, which is part of the amount paid: AUSD is credited for the rest. A kind ' +
        'that is not named has no fee.',
    }),
    { description: 'Fees of top-ups, by the channel that is used. Omitted without fees.' },
  ),
)
const Found = Type.Object({
  ...locked,
  spreadBps: SpreadBps,
  cashoutFee: Type.Optional(CashoutFee),
  topupFees: TopupFees,
})

const Reference = Type.Object(
  {
    rate: Type.String({
      pattern: '^[0-9]+(\\.[0-9]+)?$',
      description: 'Smallest units of the local currency per US dollar, exactly, as a decimal number.',
      examples: ['421.35'],
    }),
    source: Type.String({ description: 'Name of the rate source.', examples: ['frankfurter'] }),
    asOf: Type.String({
      description: "The source's own time of the rate; midnight UTC if it only names a day.",
      examples: ['2026-11-20T00:00:00.000Z'],
    }),
  },
  { title: 'ReferenceRate', description: 'A rate as its source published it.' },
)
const Quoted = Type.Object(
  {
    ...locked,
    reference: Reference,
    spreadBps: SpreadBps,
    cashouts: Type.Optional(
      Type.Boolean({
        description:
          'True if a cash-out may use the quote. False for ringgit, and without `use: pay_out` while the market of the rupiah ' +
          'is closed or rate sources disagree: then the spread is wider, and only top-ups and settlements may use it.',
      }),
    ),
    reason: Type.Optional(Reason),
    cashoutFee: Type.Optional(CashoutFee),
    topupFees: TopupFees,
  },
  {
    title: 'Quote',
    description:
      'A locked rate, in smallest units of the local currency per US dollar: the reference rate times ' +
      '(1 + `spreadBps` / 10,000), rounded up.',
  },
)

/** Direction of the money that a quote prices. A caller of the version before sends none, and gets no quote that is for one only. */
export const Use = Type.Optional(
  Type.Enum(['pay_in', 'pay_out'], {
    description:
      'What the quote is for: top-ups and settlements, or cash-outs. It matters while the market of the rupiah is closed, ' +
      'when each has its own rate; without it, the quote is for money that comes in.',
  }),
)

const Spread = Type.Object(
  {
    pair: Pair,
    reason: Reason,
    spreadBpsMin: Type.Integer({ description: 'Narrowest spread of money that comes in.' }),
    spreadBpsMax: Type.Integer({ description: 'Widest spread of money that comes in.' }),
    cashouts: Type.Enum(['any', 'capped', 'none'], {
      description:
        'Cash-outs in rupiah: `any` at the same rate; `capped` at a rate below the reference, with `use: pay_out`, up to ' +
        '`cashouts.marketClosed`, and only while a market that never closes confirms the reference; or `none`.',
    }),
  },
  {
    title: 'Spread',
    description: 'Spread of a pair for one reason, in hundredths of a percent of the reference rate.',
  },
)

/**
 * Creates a quote, which is valid for 60 seconds. Refused: rate_unavailable; for cash-outs also cashout_rate_unavailable,
 * and quote_not_idr.
 */
export const QuoteCreate = question('pricing.quote.create', 'pricing', ['gateway'], {
  request: Type.Object({ pair: Pair, use: Use }),
  answer: Quoted,
  repeat: 'changes nothing',
})

export const PricingTerms = question('pricing.terms', 'pricing', ['gateway'], {
  request: Type.Object({}),
  answer: Type.Object({
    pairs: Type.Array(Pair, { description: 'Currency pairs that can be quoted.' }),
    quoteSeconds: Type.Integer(),
    cashoutFee: Type.Optional(CashoutFee),
    topupFees: Type.Optional(
      Type.Array(
        Type.Object(
          { pair: Pair, ...topupFee },
          { title: 'TopupFeeOfPair', description: 'Fee of a top-up in one currency through one kind of channel.' },
        ),
        { description: 'Fees of top-ups, as quotes have them. Omitted without fees.' },
      ),
    ),
    spreads: Type.Optional(Type.Array(Spread, { description: 'Spreads of each pair, by the reason for them.' })),
  }),
  repeat: 'changes nothing',
})

/** Reads the current rate without locking it. Refused: rate_unavailable. */
export const RateFind = question('pricing.rate.find', 'pricing', ['payments'], {
  request: Type.Object({ pair: Pair }),
  answer: Type.Object({ pair: Pair, rate: Amount }),
  repeat: 'changes nothing',
})

/**
 * Finds a quote without taking it. Refused: quote_unknown, quote_used if another taker has it, quote_expired also for
 * its own taker, cashout_rate_unavailable if its rate pays nothing out, quote_for_cashouts if it prices nothing else.
 */
export const QuoteFind = question('pricing.quote.find', 'pricing', ['payments', 'payouts'], {
  request: Type.Object({ quoteId: Uuid, requestFingerprint: Type.String(), use: Use }),
  answer: Found,
  repeat: 'changes nothing',
})

/**
 * Takes a quote. `requestFingerprint` identifies wallet, purpose and request body: the same taker gets the same answer,
 * even after expiry.
 */
export const QuoteTake = question('pricing.quote.take', 'pricing', ['payments', 'payouts'], {
  request: Type.Object({ quoteId: Uuid, requestFingerprint: Type.String(), use: Use }),
  answer: Found,
  repeat: 'once by its key',
})
