import { Elysia } from 'elysia'
import { PostSettlementCancel, PostTopupCancel } from '#shared/api/money'
import { CheckoutCancel } from '#shared/messages/payments'
import type { Context } from '../context'
import { okOf } from '../http/failure'
import { languageFor } from '../http/language'
import { placeOrder } from '../http/order'
import { operation } from '../openapi/operation'
import type { Access } from '../sign-in/access'
import { exampleItem, idOf, idParameter, itemOf, noSuchItem } from './activity'

/** Serves cancellations. An id of another wallet or kind gets the same answer as an unknown one. */
export const cancelRoutes = ({ ask, config }: Context, access: Access) => {
  const routes = new Elysia().use(access)
  for (const { kind, path, noun } of kinds)
    routes.post(
      path,
      async ({ params: { id }, request, set, wallet }) => {
        if (!idOf.payment.test(id)) throw noSuchItem()
        const { item } = okOf(await placeOrder(ask, CheckoutCancel, { wallet, kind, id }))
        if (!item) throw noSuchItem()
        return itemOf(item, { language: languageFor({ request, set }), contact: config.supportContact })
      },
      {
        signed: true,
        ...operation({
          summary: `Cancel the open checkout of a ${noun}`,
          description:
            'Takes no body. The provider decides between a payment and a cancellation at the same moment, ' +
            'and the answer is the item afterwards: `expired` with the reason `cancelled`, or paid. Its ' +
            'limits are free again at once. A checkout that is no longer open is returned unchanged, so ' +
            'repeating has no further effect. A code that was shown before may still be paid: that money ' +
            'is credited late, if the limits admit it.',
          tag: 'money',
          security: 'session',
          parameters: [
            {
              ...idParameter,
              description: '`paymentId` of the checkout.',
              schema: { ...idParameter.schema, pattern: idOf.payment.source },
            },
          ],
          ok: {
            description: 'The item after the cancellation.',
            schema: PostTopupCancel.answer,
            example: { ...cancelled, kind },
          },
          worded: true,
          errors: [401, 404, 429, 503],
        }),
      },
    )
  return routes
}

const kinds = [
  { kind: 'topup', path: PostTopupCancel.path, noun: 'top-up' },
  { kind: 'settlement', path: PostSettlementCancel.path, noun: 'settlement' },
] as const

const { checkoutUrl: _, ...ended } = exampleItem
const cancelled = {
  ...ended,
  status: 'expired',
  reason: 'cancelled',
  nextAction: null,
  sentence: 'This checkout was cancelled. Nothing was charged. Open a new checkout to pay.',
  inFlight: false,
}
