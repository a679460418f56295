import { Elysia } from 'elysia'
import { schemaReader } from '#platform/schema'
import { PostSettlement } from '#shared/api/money'
import { SettlementCreate } from '#shared/messages/payments'
import type { Context } from '../context'
import { readBody } from '../http/body'
import { okOf } from '../http/failure'
import { placeOrder } from '../http/order'
import { operation } from '../openapi/operation'
import type { Access } from '../sign-in/access'

const read = schemaReader(PostSettlement.body)

export const settlementsRoute = ({ ask }: Context, access: Access) =>
  new Elysia()
    .use(access)
    .post(
      PostSettlement.path,
      async ({ request, wallet }) =>
        okOf(await placeOrder(ask, SettlementCreate, { wallet, ...(await readBody(request, read)) })),
      {
        signed: true,
        ...operation({
          summary: 'Repay the whole debt in local currency',
          description:
            'Charges all of `drawn`, converted at the quote and rounded up. Paid by card or e-wallet, ' +
            'the debt is repaid at once, and the same amount stays in `encumbered` of `GET /me` until ' +
            'the hold ends. To pay a part in local currency, top up and call `repayFromCollateral`: see ' +
            '`/docs/guide/settle`.',
          tag: 'money',
          security: 'session',
          body: {
            schema: PostSettlement.body,
            example: { quoteId: '7f9c24e8-3b1a-8d52-9e0f-1c2d3e4f5a6b' },
          },
          ok: {
            description: 'The checkout to open.',
            schema: PostSettlement.answer,
            example: {
              paymentId: 'pay_Zk3nT0a7yQm1c5VbXw9uRd',
              checkoutUrl: 'https://checkout.example/session',
              fiat: '162500',
              ausd: '10000000',
            },
          },
          errors: [400, 401, 413, 415, 429, 503],
        }),
      },
    )
