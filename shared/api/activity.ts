import { Type } from 'typebox'
import { route } from '#shared/api/route'
import { ActivityItem } from '#shared/messages/activity'

/** Number of items on a page that does not say how many. */
export const pageItemsDefault = 20
export const cursorForm = /^[A-Za-z0-9_-]{1,400}$/

/** Forms of the ids of items, by their owner. */
export const itemIds = {
  payment: /^pay_[A-Za-z0-9_-]{22}$/,
  cashout: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  send: /^snd_[A-Za-z0-9_-]{22}$/,
  autorepay: /^op_[A-Za-z0-9_-]{22}$/,
} as const

/** Form of ids. Postgres rejects text with a NUL byte or half a surrogate pair. */
export const ownId = /^[A-Za-z0-9_-]{1,200}$/

export const exampleItem = {
  id: 'pay_Zk3nT0a7yQm1c5VbXw9uRd',
  kind: 'topup',
  status: 'awaiting_payment',
  nextAction: 'pay',
  sentence: 'Pay at the checkout before it closes.',
  pair: 'USD/IDR',
  fiat: '50000',
  ausd: '3076923',
  method: 'qr',
  checkoutUrl: 'https://checkout.example/session',
  expiresAt: '2026-11-21T07:15:00.000Z',
  createdAt: '2026-11-21T07:00:00.000Z',
  updatedAt: '2026-11-21T07:00:00.000Z',
}

const exampleRepayment = {
  id: 'op_5kQp1sDk3vYt8nHw2cRzLa',
  kind: 'autorepay',
  status: 'repaid',
  nextAction: null,
  sentence: '3.000000 AUSD of your debt was repaid automatically from your wallet.',
  ausd: '3000000',
  source: 'wallet',
  txHash: '0x9fc76417374aa880d4449a1f7f31ec597f00b1f6f3dd2d66f4c9c6c445836d8b',
  createdAt: '2026-11-20T04:00:00.000Z',
  updatedAt: '2026-11-20T04:00:09.000Z',
}

export const idParameter = {
  name: 'id',
  in: 'path',
  required: true,
  description: '`paymentId`, `payoutId` or `sendId`, or the `id` of an automatic repayment.',
  schema: { type: 'string', pattern: ownId.source, examples: [exampleItem.id] },
} as const

const lastEventId = {
  name: 'Last-Event-ID',
  in: 'header',
  description: '`id` of the last event that the app has handled.',
  schema: { type: 'string' },
} as const

export const GetActivity = route({
  method: 'GET',
  path: '/me/activity',
  access: 'signed',
  tag: 'account',
  summary: 'List account activity',
  description:
    '`inFlight` lists everything not yet onchain or not yet confirmed by the provider; `items` ' +
    "is one page, newest first. `nextAction` is the user's next step: `pay` at `checkoutUrl`, " +
    '`wait`, `contact support`, or null if there is nothing to do. `sentence` explains the item ' +
    'to the user, and its wording may change at any time; `status`, `reason` and `channel` come ' +
    "from closed lists. `channelCode` is the provider's own code, from an open list.",
  parameters: [
    {
      name: 'limit',
      in: 'query',
      description: 'Maximum number of items per page.',
      schema: { type: 'integer', minimum: 1, maximum: 100, default: pageItemsDefault },
    },
    {
      name: 'cursor',
      in: 'query',
      description: '`nextCursor` of the previous page.',
      schema: { type: 'string', pattern: cursorForm.source },
    },
  ],
  returns: 'One page; `nextCursor` is null on the last page.',
  example: { answer: { inFlight: [exampleItem], items: [exampleItem, exampleRepayment], nextCursor: null } },
  errors: [400],
  worded: true,
  tagged: true,
  body: null,
  answer: Type.Object(
    {
      inFlight: Type.Array(ActivityItem, {
        description:
          'All items not yet onchain or not yet confirmed by the provider, newest first, on every ' +
          'page. A payment in state `held` is onchain, so it is not listed.',
      }),
      items: Type.Array(ActivityItem, {
        description: 'One page of all items, newest first, including those in flight.',
      }),
      nextCursor: Type.Union([Type.String(), Type.Null()], {
        description: '`cursor` of the next page; null on the last page.',
      }),
    },
    { title: 'ActivityPage', description: 'One page of activity, and everything in flight.' },
  ),
})

/** Tells of changes, as server-sent events. */
export const GetEvents = route({
  method: 'GET',
  path: '/me/events',
  access: 'signed',
  tag: 'account',
  summary: 'Be told of changes of the account',
  description:
    'Server-sent events. `changed` says that `GET /me` or `GET /me/activity` has something new: read them again. ' +
    'It is sent at once if `Last-Event-ID` does not name the current state, and after an order or a verdict; within ' +
    'two seconds while an item is in flight, and otherwise, as after a draw, within fifteen. The stream ends with the session and after ten minutes at most: ' +
    'connect again with the last `id`. A wallet has at most five streams; another one ends the oldest.',
  parameters: [lastEventId],
  returns: 'Events until the stream ends. A line that begins with a colon is a sign of life.',
  example: { text: { 'text/event-stream': 'id: mBm0Tq7Kc1\nevent: changed\ndata: {}\n\n' } },
  body: null,
  answer: Type.String(),
})

export const GetActivityItem = route({
  method: 'GET',
  path: '/me/activity/:id',
  access: 'signed',
  tag: 'account',
  summary: 'Show one item of the account activity',
  description:
    'The item as in `GET /me/activity`, and `inFlight`. `id` is the `paymentId`, `payoutId` or ' +
    '`sendId` of its request, or that of an automatic repayment in the list. The items of other wallets do not exist for the caller.',
  parameters: [idParameter],
  returns: 'The item.',
  example: { answer: { ...exampleItem, inFlight: true } },
  errors: [404],
  worded: true,
  tagged: true,
  body: null,
  answer: Type.Object(
    {
      ...ActivityItem.properties,
      inFlight: Type.Boolean({
        description: 'Whether it is not yet onchain, or not yet confirmed by the provider.',
      }),
    },
    { title: 'SingleItem', description: 'An item, and whether it is in flight.' },
  ),
})
