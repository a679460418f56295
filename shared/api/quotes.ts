import { Type } from 'typebox'
import { route } from '#shared/api/route'
import { Pair } from '#shared/messages/fields'
import { QuoteCreate } from '#shared/messages/pricing'

export const PostQuote = route({
  method: 'POST',
  path: '/quote',
  access: 'public',
  body: Type.Object(
    { pair: Pair },
    {
      additionalProperties: false,
      title: 'QuoteRequest',
      description: 'Currency pair of the quote.',
    },
  ),
  answer: QuoteCreate.answer,
})
