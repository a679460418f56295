import { Elysia } from 'elysia'
import { schemaReader } from '#platform/schema'
import { PostQuote } from '#shared/api/quotes'
import { QuoteCreate } from '#shared/messages/pricing'
import type { Context } from '../context'
import { readBody } from '../http/body'
import { okOf } from '../http/failure'
import { operation } from '../openapi/operation'
import type { Access } from '../sign-in/access'

const read = schemaReader(PostQuote.body)

export const quoteRoute = ({ ask }: Context, access: Access) =>
  new Elysia()
    .use(access)
    .post(PostQuote.path, async ({ request }) => okOf(await ask(QuoteCreate, await readBody(request, read))), {
      limited: 'public',
      ...operation({
        summary: 'Lock an exchange rate for 60 seconds',
        description:
          'Every top-up, settlement and cash-out needs a fresh quote. `reference` is the rate as its ' +
          'source published it, and `spreadBps` the spread added to it, for the `reason` given; `quote.spreads` of ' +
          '`GET /config` has them all. `rate` is rounded up. While the market of the rupiah is closed, ask for the quote of a ' +
          'cash-out with `use: pay_out`: its spread is negative, and its rate rounded down.',
        tag: 'quotes',
        body: { schema: PostQuote.body, example: { pair: 'USD/IDR' } },
        ok: {
          description: 'The locked rate, in smallest units of the local currency per US dollar.',
          schema: PostQuote.answer,
          example: {
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
        errors: [400, 413, 415, 429, 503],
      }),
    })
