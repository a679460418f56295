import { Type } from 'typebox'
import { fiatOf } from '#shared/money/pair'
import { localE8From, type RateSource } from '../rate'
import { askJson } from './ask-json'

/** Response of `GET /v6/latest/USD` (exchangerate-api.com/docs/free). */
const Answer = Type.Object({
  result: Type.Literal('success'),
  base_code: Type.Literal('USD'),
  time_last_update_unix: Type.Integer({ minimum: 0, maximum: 99_999_999_999 }),
  rates: Type.Record(Type.String(), Type.Unknown()),
})

/**
 * Returns a source that needs no key. Its terms (exchangerate-api.com/docs/free) forbid redistribution, which a quote
 * would be, so it is for cross-checks only.
 */
export const openErApiSource = (options: { url: string; deadlineMs: number }): RateSource => ({
  name: 'open-er-api',
  pairs: ['USD/IDR', 'USD/MYR'],
  checkOnly: true,
  neverCloses: false,
  ask: async (pair) => {
    const answer = await askJson(`${options.url}/v6/latest/USD`, Answer, options)
    const fiat = fiatOf(pair)
    const named = Object.hasOwn(answer.rates, fiat) ? answer.rates[fiat] : undefined
    const localE8PerUsd = localE8From(named)
    if (!localE8PerUsd) throw new Error(`open-er-api has no rate for ${fiat}`)
    return {
      source: 'open-er-api',
      pair,
      localE8PerUsd,
      asOfMs: answer.time_last_update_unix * 1_000,
    }
  },
})
