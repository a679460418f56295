import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { handler } from '#platform/bus/serve'
import { within } from '#platform/deadline'
import { ChainAccount } from '#shared/messages/chain'
import { IndexerRecord } from '#shared/messages/indexer'
import { PaymentsActivity } from '#shared/messages/payments'
import { CashoutCreate } from '#shared/messages/payouts'
import { QuoteCreate } from '#shared/messages/pricing'
import { waitUntil } from '#test/support/wait'
import { account, history } from './test-support/bodies'
import { answerAs, type Dependencies, startBackbone, startGateway } from './test-support/dependencies'
import { headerOf, walletOf } from './test-support/wallets'
import { openUsers, users } from './users/user.store'

let backbone: Dependencies
let gateway: Awaited<ReturnType<typeof startGateway>>
let reader: Awaited<ReturnType<typeof answerAs>>
const services: AsyncDisposable[] = []

beforeAll(async () => {
  backbone = await startBackbone()
  const empty = async () => ({ ok: { items: [], inFlight: [] } })
  const poor = async () => ({ refused: 'balance_too_low' as const })
  const record = async () => ({ ok: { history, blockNumber: '1' } })
  services.push(
    await answerAs(backbone, 'chain-relayer', [
      handler(ChainAccount, async ({ wallet }) => ({ ok: { ...account, wallet } })),
    ]),
    await answerAs(backbone, 'payments', [handler(PaymentsActivity, empty)]),
    await answerAs(backbone, 'payouts', [handler(CashoutCreate, poor)]),
  )
  reader = await answerAs(backbone, 'indexer-reader', [handler(IndexerRecord, record)])
  gateway = await startGateway(backbone)
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  for (const service of services) await service[Symbol.asyncDispose]()
  await backbone[Symbol.asyncDispose]()
})

const freshWallet = () => privateKeyToAccount(generatePrivateKey())
const hour = () => Math.floor(Date.now() / 1000) + 3_600
const get = (path: string, headers: Record<string, string> = {}) => fetch(`${gateway.url}${path}`, { headers })

describe('the gateway over HTTP', () => {
  test('creates the user on the first signed request and finds it on later ones', async () => {
    const who = freshWallet()
    const headers = { authorization: await headerOf(who, hour()) }
    const find = () =>
      backbone.database.read((db) =>
        db
          .select()
          .from(users)
          .where(eq(users.wallet, walletOf(who))),
      )
    expect(await find()).toEqual([])
    const first = (await (await get('/me', headers)).json()) as { user: object }
    const second = (await (await get('/me', headers)).json()) as { user: object }
    expect(await find()).toHaveLength(1)
    expect(second.user).toEqual(first.user)
  })
  test('refuses headers above 16 KiB with 431, as documented', async () => {
    const response = await get('/health', { 'x-long': 'a'.repeat(20_000) })
    expect([response.status, await response.text()]).toEqual([431, ''])
  })
  test('inserts a user once, and again only after the cache has evicted it', async () => {
    let made = 0
    const run: typeof backbone.database.run = (work) => {
      made++
      return backbone.database.run(work)
    }
    const { insert } = openUsers({ ...backbone.database, run }, 2)
    const [first, second, third] = [freshWallet(), freshWallet(), freshWallet()].map(walletOf)
    for (const wallet of [first, second, first, second, third]) await insert(wallet!)
    expect(made).toBe(3)
    for (const wallet of [second, third]) await insert(wallet!)
    expect(made).toBe(3)
    await insert(first!)
    expect(made).toBe(4)
  })
  test("keeps a user's country after a restart", async () => {
    const who = freshWallet()
    const headers = {
      authorization: await headerOf(who, hour()),
      'content-type': 'application/json',
    }
    const body = JSON.stringify({ country: 'MY' })
    const set = await fetch(`${gateway.url}/me/country`, { method: 'POST', headers, body })
    expect(set.status).toBe(200)
    await using other = await startGateway(backbone)
    const me = await waitUntil("the user's account", async () => {
      const answer = await fetch(`${other.url}/me`, { headers })
      return answer.ok && ((await answer.json()) as { user: { country: string } })
    })
    expect(me.user.country).toBe('MY')
  })
  test('refuses a body above 64 KiB with its own 413, whether announced or chunked', async () => {
    const big = 'x'.repeat(200 * 1024)
    const chunks = () => new Blob([big]).stream()
    for (const body of [big, chunks()]) {
      const response = await fetch(`${gateway.url}/quote`, { method: 'POST', body })
      expect([response.status, await response.json()]).toEqual([413, { error: 'the body is larger than 64 KiB' }])
    }
  })
  test('answers 503 at once when a service is absent', async () => {
    const headers = { 'content-type': 'application/json' }
    const took: number[] = []
    for (let attempt = 0; attempt < 5; attempt++) {
      const started = performance.now()
      const asked = { method: 'POST', headers, body: '{"pair":"USD/IDR"}' }
      expect((await fetch(`${gateway.url}/quote`, asked)).status).toBe(503)
      took.push(performance.now() - started)
    }
    expect(Math.min(...took)).toBeLessThan(1_000) // The best of five counts, because the machine is shared.
  })
  test('returns no partial activity list', async () => {
    const headers = { authorization: await headerOf(freshWallet(), hour()) }
    expect((await get('/me/activity', headers)).status).toBe(503)
  })
  test('returns the public record within 1.5 s while indexer-reader hangs', async () => {
    const record = async () => (await get(`/verify/${walletOf(freshWallet())}`)).json()
    const whole = await waitUntil('a whole record', async () => {
      const one = (await record()) as { indexer: string }
      return one.indexer === 'ok' && one
    })
    expect(whole).toMatchObject({ history })
    await reader[Symbol.asyncDispose]()
    const hang = () => new Promise<never>(() => {})
    await using _ = await answerAs(backbone, 'indexer-reader', [handler(IndexerRecord, hang)])
    const took: number[] = []
    for (let attempt = 0; attempt < 5; attempt++) {
      const started = performance.now()
      const seen = await record()
      took.push(performance.now() - started)
      expect(seen).toMatchObject({ history: null, indexer: 'unavailable', cycles: 3 })
    }
    expect(Math.min(...took)).toBeLessThan(1_500)
  })
})

test('readiness names missing dependencies until all of them respond', async () => {
  const ops = (path: string) => fetch(`${gateway.ops}${path}`)
  await waitUntil('those two alone being missing', async () => {
    const before = await ops('/ready')
    const { missing } = (await before.json()) as { missing: string[] }
    return before.status === 503 && `${missing}` === 'pricing,indexer-reader'
  })
  const rate = async () => ({ refused: 'rate_unavailable' as const })
  await using _pricing = await answerAs(backbone, 'pricing', [handler(QuoteCreate, rate)])
  await using _reader = await answerAs(backbone, 'indexer-reader', [])
  await waitUntil('readiness', async () => (await ops('/ready')).status === 200)
  const up = ['pricing', 'payments', 'payouts', 'chain-relayer', 'indexer-reader'].map(
    (service) => `ausd_service_up{service="${service}"} 1`,
  )
  const outbox = /^ausd_outbox_messages\{service="gateway",copy="\w+"} 0$/m
  await waitUntil('every service in the metrics, the gateway too', async () => {
    const text = await (await ops('/metrics')).text()
    return up.every((line) => text.includes(line)) && outbox.test(text)
  })
})

describe('a payment webhook', () => {
  const post = (name: string) =>
    fetch(`${gateway.url}/webhooks/payments`, {
      method: 'POST',
      body: JSON.stringify({ event: 'payment.capture', data: { id: name } }),
      headers: { 'x-callback-token': 'token-id', 'webhook-id': name },
    })
  test('is recorded once when it is delivered twenty times concurrently', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('at-once').then((r) => r.json())))
    const recorded = answers.filter((answer) => (answer as { status: string }).status === 'recorded')
    expect(recorded).toHaveLength(1)
  })
  test('gets 503 while the stream is down, and is recorded once it is back', async () => {
    await backbone.nats.stop()
    const down = await post('while-down')
    expect([down.status, down.headers.get('retry-after')]).toEqual([503, '5'])
    await backbone.nats.start()
    await waitUntil('a recorded delivery', async () => (await post('while-down')).ok)
    expect(await (await post('while-down')).json()).toEqual({ status: 'duplicate' })
  })
})

test('a draining gateway still serves requests and closes every connection', async () => {
  const leaving = new AbortController()
  await using copy = await startGateway(backbone, {}, leaving.signal)
  const connection = async () => (await fetch(`${copy.url}/health`)).headers.get('connection')
  expect(await connection()).not.toBe('close')
  leaving.abort()
  expect(await connection()).toBe('close')
})

test('a gateway that is stopped while it opens its consumers shuts down', async () => {
  for (let times = 0; times < 3; times++) {
    const copy = await startGateway(backbone)
    await within(copy[Symbol.asyncDispose](), 30_000, 'the gateway')
  }
})
