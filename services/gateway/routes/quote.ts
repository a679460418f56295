import { PostQuote } from '#shared/api/quotes'
import { QuoteCreate } from '#shared/messages/pricing'
import type { Context } from '../context'
import { okOf } from '../http/failure'
import { serve } from '../http/serve'
import type { Access } from '../sign-in/access'

export const quoteRoute = ({ ask }: Context, access: Access) =>
  serve(access, PostQuote, async ({ body }) => okOf(await ask(QuoteCreate, body)))
