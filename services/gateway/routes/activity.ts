import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { ActivityEntry } from '#shared/messages/activity'
import { ChainActivity } from '#shared/messages/chain'
import { PaymentsActivity } from '#shared/messages/payments'
import { PayoutsActivity } from '#shared/messages/payouts'
import { mergeActivity } from '../activity/activity.ts'
import { type Cursor, parseCursor } from '../activity/cursor.ts'
import { badRequest } from '../http/refused.ts'
import { okOf } from '../http/respond.ts'
import { operation } from '../openapi/operation.ts'
import type { RouteParts } from '../parts.ts'

const limitDefault = 20
const Entry = Type.Omit(ActivityEntry, ['inFlight'])
const Page = Type.Object({
  inFlight: Type.Array(Entry),
  items: Type.Array(Entry),
  nextCursor: Type.Union([Type.String(), Type.Null()]),
})

/** `GET /me/activity`: all three owners must answer, because a missing part would be a lie. */
export const activityRoute = ({ ask, door }: RouteParts) =>
  new Elysia().get(
    '/me/activity',
    door.signed(async ({ request, wallet }) => {
      const { limit, before } = pageOf(new URL(request.url).searchParams)
      const asked = { wallet, limit: limit + 1, ...(before ? { before } : {}) }
      const answers = await Promise.all([
        ask(PaymentsActivity, asked),
        ask(PayoutsActivity, asked),
        ask(ChainActivity, asked),
      ])
      return mergeActivity(answers.map(okOf), limit)
    }),
    operation({
      summary: 'What happened and what is in flight',
      description:
        '`inFlight` is everything not yet onchain or not yet confirmed by the provider; `items` ' +
        'is one page, newest first.',
      tag: 'account',
      security: 'session',
      parameters: [
        {
          name: 'limit',
          in: 'query',
          schema: { type: 'integer', minimum: 1, maximum: 100, default: limitDefault },
        },
        {
          name: 'cursor',
          in: 'query',
          description: '`nextCursor` of the page before.',
          schema: { type: 'string' },
        },
      ],
      ok: {
        description: 'One page; `nextCursor` is null on the last.',
        schema: Page,
        example: { inFlight: [entry], items: [entry], nextCursor: null },
      },
      errors: [400, 401, 429, 503],
    }),
  )

function pageOf(query: URLSearchParams): { limit: number; before?: Cursor } {
  const limit = query.get('limit') ?? String(limitDefault)
  if (!/^([1-9][0-9]?|100)$/.test(limit)) throw badRequest('limit must be a number from 1 to 100')
  const text = query.get('cursor')
  if (text === null) return { limit: Number(limit) }
  const before = parseCursor(text)
  if (!before) throw badRequest('cursor is not one that this list gave')
  return { limit: Number(limit), before }
}

const entry = {
  id: 'pay_Zk3nT0a7yQm1c5VbXw9uRd',
  kind: 'topup',
  status: 'awaiting_payment',
  pair: 'USD/IDR',
  fiat: '50000',
  ausd: '3076923',
  method: 'qr',
  checkoutUrl: 'https://checkout.example/session',
  expiresAt: '2026-11-21T07:30:00.000Z',
  createdAt: '2026-11-21T07:00:00.000Z',
  updatedAt: '2026-11-21T07:00:00.000Z',
}
