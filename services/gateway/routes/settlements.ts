import { PostSettlement } from '#shared/api/money'
import { SettlementCreate } from '#shared/messages/payments'
import type { Context } from '../context'
import { okOf } from '../http/failure'
import { placeOrder } from '../http/order'
import { serve } from '../http/serve'
import type { Access } from '../sign-in/access'

export const settlementsRoute = (context: Context, access: Access) =>
  serve(access, PostSettlement, async ({ wallet, body }) =>
    okOf(await placeOrder(context, SettlementCreate, { wallet, ...body })),
  )
