import { Type } from 'typebox'
import { route } from '#shared/api/route'
import { Pair } from '#shared/messages/fields'
import { QuoteCreate, Use } from '#shared/messages/pricing'

export const PostQuote = route({
  method: 'POST',
  path: '/quote',
  access: 'public',
  body: Type.Object(
    { pair: Pair, use: Use },
    {
      additionalProperties: false,
      title: 'QuoteRequest',
      description: 'Currency pair of the quote, and what it is for.',
    },
  ),
  answer: QuoteCreate.answer,
})
