import { afterAll, describe, expect, test } from 'bun:test'
import { bnmSource } from './bnm'
import { fixedSource } from './fixed'
import { frankfurterSource } from './frankfurter'
import { indodaxSource } from './indodax'
import { openErApiSource } from './open-er-api'

let answer: (request: Request) => Response | Promise<Response>
const asked: string[] = []
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: (request) => {
    asked.push(request.url.replace(url, ''))
    return answer(request)
  },
})
const url = `http://127.0.0.1:${server.port}`
afterAll(() => server.stop(true))

const providers = new Map([['USD/IDR', 'BI']] as const)
const sources = {
  frankfurter: (deadlineMs = 60_000) => frankfurterSource({ url, providers, deadlineMs }).ask('USD/IDR'),
  bnm: (deadlineMs = 60_000) => bnmSource({ url, session: '1130', deadlineMs }).ask('USD/MYR'),
  indodax: (deadlineMs = 60_000) => indodaxSource({ url, deadlineMs }).ask('USD/IDR'),
  'open-er-api': (deadlineMs = 60_000) => openErApiSource({ url, deadlineMs }).ask('USD/IDR'),
}
const good = {
  frankfurter: { date: '2026-11-20', base: 'USD', quote: 'IDR', rate: 16250.5 },
  bnm: {
    data: { currency_code: 'USD', unit: 1, rate: { date: '2026-11-20', middle_rate: 4.2135 } },
  },
  indodax: { ticker: { buy: '16250', sell: '16254.5', last: '16255', server_time: 1_795_132_800 } },
  'open-er-api': {
    result: 'success',
    base_code: 'USD',
    time_last_update_unix: 1_795_132_800,
    rates: { IDR: 16248.2, MYR: 4.21 },
  },
}
const names = Object.keys(sources) as (keyof typeof sources)[]
const asOfMs = Date.parse('2026-11-20')

describe('a rate source with its own response format', () => {
  test.each([
    ['frankfurter', 'USD/IDR', 1_625_050_000_000n, '/v2/rate/usd/idr?providers=BI'],
    ['bnm', 'USD/MYR', 421_350_000n, '/public/exchange-rate/USD?session=1130&quote=rm'],
    ['indodax', 'USD/IDR', 1_625_225_000_000n, '/api/ticker/usdtidr'],
    ['open-er-api', 'USD/IDR', 1_624_820_000_000n, '/v6/latest/USD'],
  ] as const)('%s: %s is %p', async (name, pair, localE8PerUsd, path) => {
    answer = () => Response.json(good[name])
    expect(await sources[name]()).toEqual({ source: name, pair, localE8PerUsd, asOfMs })
    expect(asked.at(-1)).toBe(path)
  })

  test('bnm names the unit of its rate', async () => {
    const data = { ...good.bnm.data, unit: 100, rate: { date: '2026-11-20', middle_rate: 421.35 } }
    answer = () => Response.json({ data })
    expect((await sources.bnm()).localE8PerUsd).toBe(421_350_000n)
  })

  test('bnm without a middle rate gives the mean of buying and selling', async () => {
    const rate = { date: '2026-11-20', middle_rate: null, buying_rate: 4.069, selling_rate: 4.094 }
    answer = () => Response.json({ data: { ...good.bnm.data, unit: 1, rate } })
    expect((await sources.bnm()).localE8PerUsd).toBe(408_150_000n)
  })

  test('bnm requires its own media type', async () => {
    answer = (request) =>
      request.headers.get('Accept') === 'application/vnd.BNM.API.v1+json'
        ? Response.json(good.bnm)
        : new Response('no', { status: 406 })
    expect((await sources.bnm()).source).toBe('bnm')
  })

  test('indodax may write its time as text', async () => {
    answer = () => Response.json({ ticker: { ...good.indodax.ticker, server_time: '1795132800' } })
    expect((await sources.indodax()).asOfMs).toBe(asOfMs)
  })

  test('the fixed source is always current', async () => {
    const fixed = fixedSource(new Map([['USD/MYR', 421n]]), () => 1_234)
    expect(await fixed.ask('USD/MYR')).toMatchObject({ localE8PerUsd: 421_000_000n, asOfMs: 1_234 })
    await expect(fixed.ask('USD/IDR')).rejects.toThrow('no fixed rate')
  })
})

describe.each(names)('source %s is refused', (name) => {
  const html = { headers: { 'Content-Type': 'text/html' } }
  test.each([
    ['200 with HTML', () => new Response('<html>', html)],
    ['200 with broken JSON', () => new Response('{', { headers: { 'Content-Type': 'application/json' } })],
    ['a redirect', () => Response.redirect(`${url}/elsewhere`, 302)],
    ['a 500', () => Response.json(good[name], { status: 500 })],
    ['a 429', () => new Response('slow down', { status: 429 })],
    ['another form', () => Response.json([good[name]])],
    ['nothing', () => Response.json({})],
    ['more than it could need', () => Response.json({ ...good[name], pad: 'x'.repeat(300_000) })],
  ] as const)('when it responds with %s', async (_, reply) => {
    answer = reply
    await expect(sources[name]()).rejects.toThrow()
  })

  test('when its body arrives too slowly', async () => {
    answer = () =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(new TextEncoder().encode('{')),
        }),
        { headers: { 'Content-Type': 'application/json' } },
      )
    await expect(sources[name](300)).rejects.toThrow()
  })
})

describe('a source that responds about something else is refused', () => {
  test.each([
    ['frankfurter', 'an inverted pair', { ...good.frankfurter, base: 'IDR', quote: 'USD' }],
    ['frankfurter', 'another currency', { ...good.frankfurter, quote: 'MYR' }],
    ['frankfurter', 'a negative rate', { ...good.frankfurter, rate: -1 }],
    ['frankfurter', 'no such day', { ...good.frankfurter, date: '2026-99-20' }],
    ['frankfurter', 'text for a number', { ...good.frankfurter, rate: '16250' }],
    ['bnm', 'a month of rates', { data: { ...good.bnm.data, rate: [good.bnm.data.rate] } }],
    [
      'bnm',
      'no middle rate yet, nor both of the others',
      {
        data: {
          ...good.bnm.data,
          rate: { date: '2026-11-20', middle_rate: null, buying_rate: 4.2, selling_rate: null },
        },
      },
    ],
    ['bnm', 'a unit of 0', { data: { ...good.bnm.data, unit: 0 } }],
    ['bnm', 'another currency', { data: { ...good.bnm.data, currency_code: 'SGD' } }],
    ['indodax', 'an unknown pair', { error: 'invalid_pair', error_description: 'Invalid Pair' }],
    ['indodax', 'no buyer', { ticker: { ...good.indodax.ticker, buy: '0' } }],
    ['indodax', 'a buyer above the seller', { ticker: { ...good.indodax.ticker, buy: '16255' } }],
    ['indodax', 'buyers and sellers 2.01 % apart', { ticker: { ...good.indodax.ticker, buy: '16250', sell: '16577' } }],
    ['indodax', 'no time', { ticker: { ...good.indodax.ticker, server_time: null } }],
    ['open-er-api', 'an error', { ...good['open-er-api'], result: 'error' }],
    ['open-er-api', 'another base', { ...good['open-er-api'], base_code: 'IDR' }],
    ['open-er-api', 'no rupiah', { ...good['open-er-api'], rates: { MYR: 4.21 } }],
  ] as const)('%s: %s', async (name, _, body) => {
    answer = () => Response.json(body)
    await expect(sources[name]()).rejects.toThrow()
  })
})
