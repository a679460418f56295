import { Type } from 'typebox'
import { localE8From, type RateSource } from '../rate'
import { askJson } from './json-answer'

/** `GET /public/exchange-rate/USD` of Bank Negara Malaysia's OpenAPI; `rate` is for `unit` dollars. */
const Answer = Type.Object({
  data: Type.Object({
    currency_code: Type.Literal('USD'),
    unit: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
    rate: Type.Object({
      date: Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' }),
      middle_rate: Type.Number(),
    }),
  }),
})
const accept = 'application/vnd.BNM.API.v1+json'

export type BnmOptions = {
  url: string
  /** `0900`, `1130`, `1200` or `1700`, Kuala Lumpur time. */
  session: string
  deadlineMs: number
}

/** The ringgit from the central bank itself. */
export const bnmSource = (options: BnmOptions): RateSource => ({
  name: 'bnm',
  pairs: ['USD/MYR'],
  ask: async (pair) => {
    if (pair !== 'USD/MYR') throw new Error(`bnm does not quote ${pair}`)
    const query = new URLSearchParams({ session: options.session, quote: 'rm' })
    const address = `${options.url}/public/exchange-rate/USD?${query}`
    const { data } = await askJson(address, Answer, { ...options, accept })
    const perUnitE8 = localE8From(data.rate.middle_rate)
    const asOfMs = Date.parse(`${data.rate.date}T00:00:00Z`)
    if (!perUnitE8 || Number.isNaN(asOfMs)) throw new Error('bnm answered no rate')
    return { source: 'bnm', pair, localE8PerUsd: perUnitE8 / BigInt(data.unit), asOfMs }
  },
})
