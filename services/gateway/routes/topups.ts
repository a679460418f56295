import { Elysia } from 'elysia'
import { schemaReader } from '#platform/schema'
import { PostTopup } from '#shared/api/money'
import { TopupCreate } from '#shared/messages/payments'
import type { Context } from '../context'
import { readBody } from '../http/body'
import { okOf } from '../http/failure'
import { placeUnderTerms } from '../http/order'
import { operation } from '../openapi/operation'
import type { Access } from '../sign-in/access'

const read = schemaReader(PostTopup.body)

export const topupsRoute = (context: Context, access: Access) =>
  new Elysia().use(access).post(
    PostTopup.path,
    async ({ request, wallet }) => {
      const body = await readBody(request, read)
      return okOf(await placeUnderTerms(context, TopupCreate, { wallet, ...body }))
    },
    {
      signed: true,
      ...operation({
        summary: 'Pay local currency into the credit line',
        description:
          'The account must be verified. The minimum is RM 5.00 or Rp 10,000. `card` limits the ' +
          'checkout to cards; other methods show every channel. A frozen wallet cannot use `card`; ' +
          'it repays what it owes with `bank` or `qr`.',
        tag: 'money',
        security: 'session',
        body: {
          schema: PostTopup.body,
          example: {
            amount: '50000',
            method: 'qr',
            quoteId: '7f9c24e8-3b1a-8d52-9e0f-1c2d3e4f5a6b',
          },
        },
        ok: {
          description: 'The checkout to open.',
          schema: PostTopup.answer,
          example: {
            paymentId: 'pay_Zk3nT0a7yQm1c5VbXw9uRd',
            checkoutUrl: 'https://checkout.example/session',
            fiat: '50000',
            ausd: '3076923',
          },
        },
        errors: [400, 401, 403, 413, 415, 429, 503],
      }),
    },
  )
