import { PostAccountCheck, PostCashout } from '#shared/api/money'
import { textIn } from '#shared/language/catalogue'
import { AccountCheck, CashoutCreate } from '#shared/messages/payouts'
import type { Context } from '../context'
import { okOf } from '../http/failure'
import { languageFor } from '../http/language'
import { placeOrder, placeUnderTerms, withReason } from '../http/order'
import { serve } from '../http/serve'
import type { Access } from '../sign-in/access'

export const cashoutsRoute = (context: Context, access: Access) =>
  serve(access, PostCashout, async ({ wallet, body }) => {
    const answer = await placeUnderTerms(context, CashoutCreate, { wallet, ...body })
    return okOf(await withReason(context.ask, wallet, answer))
  })

export const accountCheckRoute = (context: Context, access: Access) =>
  serve(access, PostAccountCheck, async ({ request, set, wallet, body }) => {
    const { verdict } = okOf(await placeOrder(context, AccountCheck, { wallet, ...body }))
    const code = `account_check.${verdict}` as const
    return { verdict, sentence: textIn(languageFor({ request, set }), [{ code }]) }
  })
