import { type Static, Type } from 'typebox'
import { localE8From, type RateSource } from '../rate'
import { askJson } from './ask-json'

/**
 * Response of `GET /public/exchange-rate/USD` of Bank Negara Malaysia's OpenAPI, as in test/recorded. `rate` is for
 * `unit` dollars. Session 1130 has the counter rates of commercial banks and a middle rate of null; the others are
 * interbank.
 */
const Answer = Type.Object({
  data: Type.Object({
    currency_code: Type.Literal('USD'),
    unit: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
    rate: Type.Object({
      date: Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' }),
      buying_rate: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
      selling_rate: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
      middle_rate: Type.Union([Type.Number(), Type.Null()]),
    }),
  }),
})
type Rate = Static<typeof Answer>['data']['rate']
const accept = 'application/vnd.BNM.API.v1+json'

type BnmOptions = {
  url: string
  session: string
  deadlineMs: number
}

export const bnmSource = (options: BnmOptions): RateSource => ({
  name: 'bnm',
  pairs: ['USD/MYR'],
  checkOnly: false,
  neverCloses: false,
  ask: async (pair) => {
    if (pair !== 'USD/MYR') throw new Error(`bnm does not quote ${pair}`)
    const query = new URLSearchParams({ session: options.session, quote: 'rm' })
    const address = `${options.url}/public/exchange-rate/USD?${query}`
    const { data } = await askJson(address, Answer, { ...options, accept })
    const perUnitE8 = middleE8FloorOf(data.rate)
    const asOfMs = Date.parse(`${data.rate.date}T00:00:00Z`)
    if (!perUnitE8 || Number.isNaN(asOfMs)) throw new Error('bnm returned no rate')
    return { source: 'bnm', pair, localE8PerUsd: perUnitE8 / BigInt(data.unit), asOfMs }
  },
})

/** Returns the middle rate or, without one, the mean of the buying and the selling rate. */
function middleE8FloorOf(rate: Rate): bigint | undefined {
  const middle = localE8From(rate.middle_rate)
  if (middle) return middle
  const [buying, selling] = [localE8From(rate.buying_rate), localE8From(rate.selling_rate)]
  return buying && selling ? (buying + selling) / 2n : undefined
}
