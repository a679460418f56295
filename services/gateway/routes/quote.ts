import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { Pair } from '#shared/messages/fields'
import { QuoteCreate } from '#shared/messages/pricing'
import { readerOf } from '#shared/schema'
import type { Context } from '../context'
import { readBody } from '../http/body'
import { okOf } from '../http/failure'
import { operation } from '../openapi/operation'
import type { Access } from '../sign-in/access'

const Body = Type.Object({ pair: Pair }, { additionalProperties: false })
const read = readerOf(Body)

/** `POST /quote`: locks a rate. */
export const quoteRoute = ({ ask }: Context, access: Access) =>
  new Elysia()
    .use(access)
    .post(
      '/quote',
      async ({ request }) => okOf(await ask(QuoteCreate, await readBody(request, read))),
      {
        limited: 'public',
        ...operation({
          summary: 'Lock an exchange rate for 60 seconds',
          description: 'Every top-up, settlement and cash-out needs a fresh quote.',
          tag: 'quotes',
          body: { schema: Body, example: { pair: 'USD/IDR' } },
          ok: {
            description: 'The locked rate: smallest units of the local currency per US dollar.',
            schema: QuoteCreate.answer,
            example: {
              id: '7f9c24e8-3b1a-8d52-9e0f-1c2d3e4f5a6b',
              pair: 'USD/IDR',
              rate: '16250',
              expiresAt: '2026-11-21T07:01:00.000Z',
            },
          },
          errors: [400, 413, 429, 503],
        }),
      },
    )
