import { Type } from 'typebox'
import { route } from '#shared/api/route'
import { Pair } from '#shared/messages/fields'
import { QuoteCreate, Use } from '#shared/messages/pricing'

export const PostQuote = route({
  method: 'POST',
  path: '/quote',
  access: 'public',
  tag: 'quotes',
  summary: 'Lock an exchange rate for 60 seconds',
  description:
    'Every top-up, settlement and cash-out needs a fresh quote. `reference` is the rate as its ' +
    'source published it, and `spreadBps` the spread added to it, for the `reason` given; `quote.spreads` of ' +
    '`GET /config` has them all. `rate` is rounded up. While the market of the rupiah is closed, ask for the quote of a ' +
    'cash-out with `use: pay_out`: its spread is negative, and its rate rounded down. With the `Authorization` of a ' +
    'session, a quote counts for the limit of the wallet, and not for that of an address, which many users may share.',
  returns: 'The locked rate, in smallest units of the local currency per US dollar.',
  example: {
    body: { pair: 'USD/IDR' },
    answer: {
      id: '7f9c24e8-3b1a-8d52-9e0f-1c2d3e4f5a6b',
      pair: 'USD/IDR',
      rate: '16250',
      expiresAt: '2026-11-21T07:01:00.000Z',
      reference: {
        rate: '16249.2',
        source: 'frankfurter',
        asOf: '2026-11-20T00:00:00.000Z',
      },
      spreadBps: 0,
      cashouts: true,
      reason: 'market_open',
    },
  },
  body: Type.Object(
    { pair: Pair, use: Use },
    {
      additionalProperties: false,
      title: 'QuoteRequest',
      description: 'Currency pair of the quote, and what it is for.',
    },
  ),
  answer: QuoteCreate.answer,
})
