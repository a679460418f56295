import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { Amount, Uuid } from '#shared/messages/fields'
import { TopupCreate } from '#shared/messages/payments'
import { readerOf } from '#shared/schema'
import type { Context } from '../context'
import { readBody } from '../http/body'
import { acceptingDeadlineMs } from '../http/deadline'
import { okOf } from '../http/failure'
import { operation } from '../openapi/operation'
import type { Access } from '../sign-in/access'

const Body = Type.Object(
  {
    amount: Amount,
    method: Type.Enum(['bank', 'card', 'qr'], { says: 'must be bank, card or qr' }),
    quoteId: Uuid,
  },
  { additionalProperties: false },
)
const read = readerOf(Body)

/** `POST /topups`: opens a checkout that becomes collateral. */
export const topupsRoute = ({ ask }: Context, access: Access) =>
  new Elysia()
    .use(access)
    .post(
      '/topups',
      async ({ request, wallet }) =>
        okOf(
          await ask(
            TopupCreate,
            { wallet, ...(await readBody(request, read)) },
            acceptingDeadlineMs,
          ),
        ),
      {
        signed: true,
        ...operation({
          summary: 'Pay local currency into the credit line',
          description:
            'The account must be verified. The minimum is RM 5.00 or Rp 10,000. With `card` the ' +
            'checkout offers cards alone, otherwise every channel. A frozen wallet is refused `card`: ' +
            'what it still owes is made good by `bank` or `qr`.',
          tag: 'money',
          security: 'session',
          body: {
            schema: Body,
            example: {
              amount: '50000',
              method: 'qr',
              quoteId: '7f9c24e8-3b1a-8d52-9e0f-1c2d3e4f5a6b',
            },
          },
          ok: {
            description: 'The checkout to open.',
            schema: TopupCreate.answer,
            example: {
              paymentId: 'pay_Zk3nT0a7yQm1c5VbXw9uRd',
              checkoutUrl: 'https://checkout.example/session',
              fiat: '50000',
              ausd: '3076923',
            },
          },
          errors: [400, 401, 403, 413, 429, 503],
        }),
      },
    )
