import { type Static, Type } from 'typebox'
import { localE8From, type RateSource } from '../rate'
import { askJson } from './ask-json'

const Price = Type.String({ pattern: '^[0-9]{1,9}(\\.[0-9]{1,20})?$' })

/**
 * Response of `GET /api/ticker/usdtidr` (github.com/btcid/indodax-official-api-docs, Public-RestAPI.md, April 2026): open
 * data without a key, 180 requests a minute. The time is in seconds and has been seen as a number and as text. An unknown
 * pair has status 200 and an `error` instead of a ticker.
 */
const Answer = Type.Object({
  ticker: Type.Object({
    buy: Price,
    sell: Price,
    server_time: Type.Union([
      Type.Integer({ minimum: 0, maximum: 99_999_999_999 }),
      Type.String({ pattern: '^[0-9]{1,11}$' }),
    ]),
  }),
})
type Ticker = Static<typeof Answer>['ticker']

/** Widest gap between the best orders, as a share of the lower one, at which their middle says what a dollar costs. */
const gapMaxBps = 200n

/**
 * Returns a source that trades on every day of the year: the price of USDT in rupiah at Indodax. A token is no dollar, and
 * its time is that of the response, so the source is for cross-checks only.
 */
export const indodaxSource = (options: { url: string; deadlineMs: number }): RateSource => ({
  name: 'indodax',
  pairs: ['USD/IDR'],
  checkOnly: true,
  neverCloses: true,
  ask: async (pair) => {
    if (pair !== 'USD/IDR') throw new Error(`indodax does not trade ${pair}`)
    const { ticker } = await askJson(`${options.url}/api/ticker/usdtidr`, Answer, options)
    return {
      source: 'indodax',
      pair,
      localE8PerUsd: middleE8FloorOf(ticker),
      asOfMs: Number(ticker.server_time) * 1_000,
    }
  },
})

function middleE8FloorOf(ticker: Ticker): bigint {
  const [buy, sell] = [localE8From(ticker.buy), localE8From(ticker.sell)]
  if (!buy || !sell || sell < buy) throw new Error('indodax has no buyer below a seller')
  if ((sell - buy) * 10_000n > buy * gapMaxBps) throw new Error('indodax has buyers and sellers too far apart')
  return (buy + sell) / 2n
}
