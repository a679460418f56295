import { pause } from '#platform/deadline'
import { bankDay } from '#test/support/bank-day'

export type RateWeather =
  | 'fair'
  | 'html'
  | 'redirect'
  | 'slow body'
  | 'inverted'
  | 'yesterday'
  | 'stale'
  | 'missing currency'
  | 'rate of 1'
  /** Bank Negara has its counter session, as at 1130. */
  | 'no middle'
  /** Bank Negara, open.er-api.com or Indodax differ by two percent (`near`) or five (`apart`). */
  | 'near'
  | 'apart'
  | 'down'

/** Frankfurter v2, Bank Negara Malaysia, open.er-api.com and Indodax on a local server. */
export type RateWorld = AsyncDisposable & {
  readonly url: string
  readonly turn: (weather: RateWeather, source?: SourceName) => void
  readonly asked: (source: SourceName) => number
}
const sourceNames = ['frankfurter', 'bnm', 'open-er-api', 'indodax'] as const
type SourceName = (typeof sourceNames)[number]
type Quote = { rate: number; date: string; named: boolean }

/** Mid rates of healthy sources; `quoteIn` computes the others. */
const fairRates = { IDR: 16_250, MYR: 4.21 } as const
type Fiat = keyof typeof fairRates

const farther: ReadonlyMap<RateWeather, number> = new Map([
  ['near', 1.02],
  ['apart', 1.05],
])

function quoteIn(weather: RateWeather, fiat: Fiat, source: SourceName): Quote {
  const mid = fairRates[fiat]
  const more = source === 'frankfurter' ? 1 : (farther.get(weather) ?? 1)
  const rate = weather === 'inverted' ? 1 / mid : weather === 'rate of 1' ? 1 : mid * more
  const age = weather === 'stale' ? 9 : weather === 'yesterday' ? 1 : 0
  return { rate, date: bankDay(age), named: weather !== 'missing currency' }
}

export function openRateWorld(): RateWorld {
  const weather = new Map<SourceName, RateWeather>()
  const asked = new Map<SourceName, number>()
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => {
      const { pathname } = new URL(request.url)
      const source = sourceAt(pathname)
      if (!source) return new Response('no such path', { status: 404 })
      asked.set(source, (asked.get(source) ?? 0) + 1)
      return answer(source, pathname, weather.get(source) ?? 'fair')
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    turn: (next, source) => {
      const sources = source ? [source] : sourceNames
      for (const name of sources) weather.set(name, next)
    },
    asked: (source) => asked.get(source) ?? 0,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

const sourceAt = (path: string): SourceName | undefined => {
  if (path.startsWith('/v2/rate/usd/')) return 'frankfurter'
  if (path === '/public/exchange-rate/USD') return 'bnm'
  if (path === '/api/ticker/usdtidr') return 'indodax'
  return path === '/v6/latest/USD' ? 'open-er-api' : undefined
}

function answer(source: SourceName, path: string, weather: RateWeather): Response {
  const json = (init?: ResponseInit) => Response.json(bodyOf(source, path, weather), init)
  switch (weather) {
    case 'html':
      return new Response('<html>maintenance</html>', { headers: { 'Content-Type': 'text/html' } })
    case 'redirect':
      return Response.redirect(`http://127.0.0.1:9${path}`, 302)
    case 'slow body':
      return slow(JSON.stringify(bodyOf(source, path, weather)))
    case 'down':
      return json({ status: 503 })
    default:
      return json()
  }
}

function bodyOf(source: SourceName, path: string, weather: RateWeather): unknown {
  const fiat: Fiat = source === 'frankfurter' && path.endsWith('/idr') ? 'IDR' : 'MYR'
  const { rate, date, named } = quoteIn(weather, fiat, source)
  if (source === 'frankfurter')
    return named ? { date, base: 'USD', quote: fiat, rate } : { status: 404, message: 'not found' }
  if (source === 'bnm') {
    const currency_code = named ? 'USD' : 'SGD'
    // Rates are for ten dollars, so ignoring the unit gives a rate ten times too high.
    const perTen = (more: number) => Number((rate * 10 + more).toFixed(8))
    const middle_rate = weather === 'no middle' ? null : perTen(0)
    const around = { buying_rate: perTen(-0.02), selling_rate: perTen(0.02) }
    return { data: { currency_code, unit: 10, rate: { date, ...around, middle_rate } } }
  }
  const idr = quoteIn(weather, 'IDR', source).rate
  if (source === 'indodax') {
    const server_time = Math.floor((Date.now() - (Date.parse(bankDay(0)) - Date.parse(date))) / 1_000)
    const price = idr.toFixed(8)
    return named ? { ticker: { buy: price, sell: price, last: price, server_time } } : { error: 'invalid_pair' }
  }
  return {
    result: 'success',
    base_code: 'USD',
    time_last_update_unix: Date.parse(date) / 1_000,
    rates: named ? { USD: 1, IDR: idr, MYR: rate } : { USD: 1 },
  }
}

/** Returns a response that starts at once and ends after any timeout. */
const slow = (text: string) =>
  new Response(
    new ReadableStream({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode(text.slice(0, 1)))
        await pause(5_000)
        try {
          controller.enqueue(new TextEncoder().encode(text.slice(1)))
          controller.close()
        } catch {
          // The client has disconnected.
        }
      },
    }),
    { headers: { 'Content-Type': 'application/json' } },
  )
