import { Elysia } from 'elysia'
import { itemIds } from '#shared/api/activity'
import { PostSettlementCancel, PostTopupCancel } from '#shared/api/money'
import { CheckoutCancel } from '#shared/messages/payments'
import type { Context } from '../context'
import { okOf } from '../http/failure'
import { languageFor } from '../http/language'
import { placeOrder } from '../http/order'
import { serve } from '../http/serve'
import type { Access } from '../sign-in/access'
import { itemOf, noSuchItem } from './activity'

/** Serves cancellations. An id of another wallet or kind gets the same answer as an unknown one. */
export const cancelRoutes = (context: Context, access: Access) => {
  const { config } = context
  const cancel = (route: (typeof kinds)[number]['route'], kind: (typeof kinds)[number]['kind']) =>
    serve(access, route, async ({ params: { id }, request, set, wallet }) => {
      if (!itemIds.payment.test(id)) throw noSuchItem()
      const { item } = okOf(await placeOrder(context, CheckoutCancel, { wallet, kind, id }))
      if (!item) throw noSuchItem()
      return itemOf(item, { language: languageFor({ request, set }), contact: config.supportContact })
    })
  const routes = new Elysia()
  for (const { route, kind } of kinds) routes.use(cancel(route, kind))
  return routes
}

const kinds = [
  { kind: 'topup', route: PostTopupCancel },
  { kind: 'settlement', route: PostSettlementCancel },
] as const
