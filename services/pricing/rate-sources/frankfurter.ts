import { Type } from 'typebox'
import { fiatOf, type Pair } from '#shared/money/pair'
import { localE8From, type RateSource } from '../rate'
import { askJson } from './ask-json'

/** `GET /v2/rate/{base}/{quote}` (Frankfurter OpenAPI 2.1.1). */
const Answer = Type.Object({
  date: Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' }),
  base: Type.String(),
  quote: Type.String(),
  rate: Type.Number(),
})

type FrankfurterOptions = {
  url: string
  /** Central bank per pair: the blend of all banks tolerates 5 %, too loose for quotes. */
  providers: ReadonlyMap<Pair, string>
  deadlineMs: number
}

/** Central-bank rates, one per working day: https://api.frankfurter.dev or self-hosted. */
export const frankfurterSource = (options: FrankfurterOptions): RateSource => ({
  name: 'frankfurter',
  pairs: [...options.providers.keys()],
  checkOnly: false,
  ask: async (pair) => {
    const fiat = fiatOf(pair)
    const query = new URLSearchParams({ providers: options.providers.get(pair) ?? '' })
    const address = `${options.url}/v2/rate/usd/${fiat.toLowerCase()}?${query}`
    const answer = await askJson(address, Answer, options)
    if (answer.base !== 'USD' || answer.quote !== fiat)
      throw new Error(`frankfurter returned ${answer.base}/${answer.quote} for ${pair}`)
    const localE8PerUsd = localE8From(answer.rate)
    const asOfMs = Date.parse(`${answer.date}T00:00:00Z`)
    if (!localE8PerUsd || Number.isNaN(asOfMs)) throw new Error('frankfurter returned no rate')
    return { source: 'frankfurter', pair, localE8PerUsd, asOfMs }
  },
})
