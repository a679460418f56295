import { PostTopup } from '#shared/api/money'
import { TopupCreate } from '#shared/messages/payments'
import type { Context } from '../context'
import { okOf } from '../http/failure'
import { placeUnderTerms } from '../http/order'
import { serve } from '../http/serve'
import type { Access } from '../sign-in/access'

export const topupsRoute = (context: Context, access: Access) =>
  serve(access, PostTopup, async ({ wallet, body }) =>
    okOf(await placeUnderTerms(context, TopupCreate, { wallet, ...body })),
  )
