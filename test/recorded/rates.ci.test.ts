import { afterAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { readConfig } from '#platform/config'
import type { Pair } from '#shared/money/pair'
import { fields, guardsFrom } from '../../services/pricing/config'
import { decideRate } from '../../services/pricing/decide'
import { sourcesFrom } from '../../services/pricing/rate-sources/sources'

// The responses are recorded. README.md names each source.

const body = (name: string) => readFileSync(`${import.meta.dir}/rates/${name}.json`, 'utf8')

let served: { name: string; status: number } = { name: '', status: 200 }
const asked: URL[] = []
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: (request) => {
    asked.push(new URL(request.url))
    const headers = { 'Content-Type': 'application/json' }
    return new Response(body(served.name), { status: served.status, headers })
  },
})
afterAll(() => server.stop(true))

const url = `http://127.0.0.1:${server.port}`
const config = readConfig('pricing', fields, {
  DEPLOYMENT: 'local', // The recorded bodies are served over http.
  NATS_URL: 'nats://localhost',
  NATS_PASSWORD: 'unused',
  DATABASE_URL: 'postgres://localhost/unused',
  QUOTE_SECRETS: 's'.repeat(32),
  RATE_SOURCES: 'frankfurter,bnm,open-er-api,indodax',
  SPREADS_BPS: 'USD/IDR=0,USD/MYR=0',
  FRANKFURTER_URL: url,
  BNM_URL: url,
  OPEN_ER_API_URL: url,
  INDODAX_URL: url,
})
const sources = sourcesFrom(config, Date.now)

/** Returns pricing's result if only this source answers. */
async function outcomeOf(name: string, pair: Pair, served_: typeof served, at: string) {
  served = served_
  const source = sources.find((one) => one.name === name)!
  const sighting = await source.ask(pair).catch(() => undefined)
  if (!sighting) return 'no rate'
  const known = { pair, sightings: [], checks: [], trades: [], accepted: null, releasedDay: undefined }
  const verdict = decideRate(
    { ...known, sourcesWanted: 1, [source.checkOnly ? 'checks' : 'sightings']: [sighting] },
    guardsFrom(config),
    Date.parse(at),
  )
  return 'unavailable' in verdict ? 'not quoted' : `${verdict.payIn.minorPerUsd} ${fresh(sighting)}`
}
const fresh = ({ localE8PerUsd }: { localE8PerUsd: bigint }) => `(${localE8PerUsd} e-8)`

describe('a recorded response', () => {
  test.each([
    ['bnm', 'USD/MYR', 'bnm-usd-session-1200', 200, '409 (408700000 e-8)'],
    ['bnm', 'USD/MYR', 'bnm-usd-session-1130', 200, '409 (408150000 e-8)'],
    ['bnm', 'USD/MYR', 'bnm-usd-month-session-1700', 200, 'no rate'],
    ['bnm', 'USD/MYR', 'bnm-no-records', 404, 'no rate'],
    ['frankfurter', 'USD/IDR', 'frankfurter-usd-eur', 200, 'no rate'],
    ['open-er-api', 'USD/IDR', 'open-er-api-usd', 200, 'not quoted'],
    ['open-er-api', 'USD/MYR', 'open-er-api-error', 200, 'no rate'],
    ['indodax', 'USD/IDR', 'indodax-invalid-pair', 200, 'no rate'],
    ['indodax', 'USD/IDR', 'indodax-ticker', 200, 'not quoted'],
  ] as const)('of %s for %s, %s (%p): %s', async (name, pair, file, status, outcome) => {
    const at = name === 'open-er-api' ? '2026-06-02T09:00:00Z' : '2026-10-08T15:00:00Z'
    expect(await outcomeOf(name, pair, { name: file, status }, at)).toBe(outcome)
  })

  test.each([
    ['indodax-ticker', 51_150_000_000n, '2019-10-16T06:34:28.000Z'],
    ['indodax-ticker-time-as-text', 7_344_849_500_050n, '2024-03-13T11:10:44.000Z'],
  ] as const)(
    'of indodax, %s, gives the middle of its best orders and its time: %p at %s',
    async (name, rate, time) => {
      served = { name, status: 200 }
      const sighting = await sources.find((one) => one.name === 'indodax')!.ask('USD/IDR')
      expect(sighting).toMatchObject({ localE8PerUsd: rate, asOfMs: Date.parse(time) })
    },
  )

  test('is requested for the session that has a middle rate', async () => {
    await outcomeOf('bnm', 'USD/MYR', { name: 'bnm-usd-session-1200', status: 200 }, '2026-10-08')
    expect(asked.at(-1)!.searchParams.get('session')).toBe('1200')
  })
})
