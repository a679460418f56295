import { Type } from 'typebox'
import { fiatOf, type Pair } from '#shared/money/pair'
import { localE8From, type RateSource } from '../rate'
import { askJson } from './ask-json'

/** Response of `GET /v2/rate/{base}/{quote}` (Frankfurter OpenAPI 2.1.1). */
const Answer = Type.Object({
  date: Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' }),
  base: Type.String(),
  quote: Type.String(),
  rate: Type.Number(),
})

type FrankfurterOptions = {
  url: string
  /** Central bank per pair. The blend of all banks tolerates a difference of 5 %, too much for quotes. */
  providers: ReadonlyMap<Pair, string>
  deadlineMs: number
}

/**
 * Returns a source of central-bank rates, one per working day, from https://api.frankfurter.dev or a self-hosted
 * instance.
 */
export const frankfurterSource = (options: FrankfurterOptions): RateSource => ({
  name: 'frankfurter',
  pairs: [...options.providers.keys()],
  checkOnly: false,
  neverCloses: false,
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
