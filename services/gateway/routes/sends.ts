import { PostSend } from '#shared/api/money'
import { SendCreate } from '#shared/messages/chain'
import type { Context } from '../context'
import { okOf } from '../http/failure'
import { placeUnderTerms, withReason } from '../http/order'
import { serve } from '../http/serve'
import type { Access } from '../sign-in/access'

export const sendsRoute = (context: Context, access: Access) =>
  serve(access, PostSend, async ({ wallet, body }) => {
    const answer = await placeUnderTerms(context, SendCreate, { wallet, ...body })
    return okOf(await withReason(context.ask, wallet, answer))
  })
