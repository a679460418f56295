import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHmac, randomBytes } from 'node:crypto'
import { eq } from 'drizzle-orm'
import pino from 'pino'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { waitUntil } from '#infra/local/wait'
import { asker } from '#shared/bus/ask'
import { answering } from '#shared/bus/serve'
import { ChainAccount } from '#shared/messages/chain'
import { IndexerRecord } from '#shared/messages/indexer'
import { PaymentsActivity } from '#shared/messages/payments'
import { CashoutCreate } from '#shared/messages/payouts'
import { QuoteCreate } from '#shared/messages/pricing'
import { relayFailed, relaySettled } from '#shared/messages/relay'
import { identities } from './identity/identity.store.ts'
import { dripOrderId, flagCause, flagOrderId } from './identity/orders.ts'
import { sweepOnce } from './identity/stuck.ts'
import { inbox, outbox } from './schema.store.ts'
import { account, history } from './testing/answers.ts'
import { type Backbone, standIn, startBackbone, startGateway } from './testing/backbone.ts'
import { webhookSecret } from './testing/collaborators.ts'
import { headerOf, walletOf } from './testing/wallets.ts'
import { users } from './users/user.store.ts'

let backbone: Backbone
let gateway: Awaited<ReturnType<typeof startGateway>>
let relayer: Awaited<ReturnType<typeof standIn>>
const stands: AsyncDisposable[] = []
/** What the chain says, per wallet; nothing is verified by default. */
const onChain = new Map<string, { verified: boolean; native: string }>()

beforeAll(async () => {
  backbone = await startBackbone()
  const empty = async () => ({ ok: { items: [], inFlight: [] } })
  relayer = await standIn(backbone, 'chain-relayer', [
    answering(ChainAccount, async ({ wallet }) => {
      const { verified, native } = onChain.get(wallet) ?? { verified: false, native: '0' }
      const balance = { ausd: '0', native }
      return { ok: { ...account, wallet, verified, balance } }
    }),
  ])
  stands.push(
    await standIn(backbone, 'payments', [answering(PaymentsActivity, empty)]),
    await standIn(backbone, 'payouts', [
      answering(CashoutCreate, async () => ({ refused: 'balance_too_low' })),
    ]),
    await standIn(backbone, 'indexer-reader', [
      answering(IndexerRecord, async () => ({ ok: { history, blockNumber: '1' } })),
    ]),
  )
  gateway = await startGateway(backbone)
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  for (const stand of [relayer, ...stands]) await stand[Symbol.asyncDispose]()
  await backbone[Symbol.asyncDispose]()
})

const freshWallet = () => privateKeyToAccount(generatePrivateKey())
const hour = () => Math.floor(Date.now() / 1000) + 3_600
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}${path}`, { headers })

function review(wallet: string, answer: 'GREEN' | 'RED', atMs = Date.now()): Promise<Response> {
  const body = JSON.stringify({
    type: 'applicantReviewed',
    reviewStatus: 'completed',
    applicantId: 'applicant',
    correlationId: randomBytes(6).toString('hex'),
    externalUserId: wallet,
    levelName: 'basic-kyc-level',
    sandboxMode: true,
    createdAtMs: new Date(atMs).toISOString().replace('T', ' ').replace('Z', ''),
    reviewResult: {
      reviewAnswer: answer,
      reviewRejectType: answer === 'RED' ? 'FINAL' : undefined,
    },
  })
  const digest = createHmac('sha256', webhookSecret).update(body).digest('hex')
  const headers = { 'x-payload-digest': digest, 'x-payload-digest-alg': 'HMAC_SHA256_HEX' }
  return fetch(`${gateway.url}/webhooks/identity`, { method: 'POST', body, headers })
}

const published = (id: string) =>
  waitUntil(`message ${id}`, async () => {
    const [row] = await backbone.database.read((db) =>
      db.select().from(outbox).where(eq(outbox.id, id)),
    )
    return row?.publishedAt ? row : undefined
  })
const identityOf = async (wallet: `0x${string}`) => {
  const rows = await backbone.database.read((db) =>
    db.select().from(identities).where(eq(identities.wallet, wallet)),
  )
  return rows[0]
}
const becomes = (wallet: `0x${string}`, state: string) =>
  waitUntil(`${wallet} ${state}`, async () => {
    const row = await identityOf(wallet)
    return row?.state === state ? row : undefined
  })
const minuteMs = 60_000
/** What the sweeper does when its clock is so far ahead. */
async function sweepLater(aheadMs: number): Promise<void> {
  await using bus = await backbone.busAs('gateway')
  await sweepOnce({
    database: backbone.database,
    ask: asker(bus),
    clock: () => Date.now() + aheadMs + 1_000,
    sweepAfterMs: minuteMs,
    sweepEveryMs: minuteMs,
    log: pino({ level: 'silent' }),
    poke: () => {},
  })
}
const settle = (wallet: `0x${string}`, revision: bigint) =>
  relayer.tell(relaySettled('verify'), {
    operationId: 'op_1',
    cause: flagCause(wallet, revision),
    wallet,
    txHash: `0x${'11'.repeat(32)}`,
    blockNumber: '5',
  })

describe('over HTTP', () => {
  test('the first signed call makes the user, further ones find it', async () => {
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
  test('a country that was set is there after a restart', async () => {
    const who = freshWallet()
    const headers = {
      authorization: await headerOf(who, hour()),
      'content-type': 'application/json',
    }
    const body = JSON.stringify({ country: 'MY' })
    await fetch(`${gateway.url}/me/country`, { method: 'POST', headers, body })
    await using other = await startGateway(backbone)
    const me = (await (await fetch(`${other.url}/me`, { headers })).json()) as {
      user: { country: string }
    }
    expect(me.user.country).toBe('MY')
  })
  test('a body above 64 KiB is answered with our own 413, announced or chunked', async () => {
    const big = 'x'.repeat(200 * 1024)
    const chunks = () => new Blob([big]).stream()
    for (const body of [big, chunks()]) {
      const response = await fetch(`${gateway.url}/quote`, { method: 'POST', body })
      expect([response.status, await response.json()]).toEqual([
        413,
        { error: 'the body is larger than 64 KiB' },
      ])
    }
  })
  test('a service that is not there is 503, not a wait', async () => {
    const headers = { 'content-type': 'application/json' }
    const started = performance.now()
    const response = await fetch(`${gateway.url}/quote`, {
      method: 'POST',
      headers,
      body: '{"pair":"USD/IDR"}',
    })
    expect(response.status).toBe(503)
    expect(performance.now() - started).toBeLessThan(1_000)
  })
  test('half of an activity list is none', async () => {
    const headers = { authorization: await headerOf(freshWallet(), hour()) }
    expect((await get('/me/activity', headers)).status).toBe(503)
  })
  test('the public record comes within 300 ms of a reader that hangs', async () => {
    const wallet = walletOf(freshWallet())
    const [reader] = stands.splice(2, 1)
    await reader![Symbol.asyncDispose]()
    const hang = () => new Promise<never>(() => {})
    await using _ = await standIn(backbone, 'indexer-reader', [answering(IndexerRecord, hang)])
    const started = performance.now()
    const record = await (await get(`/verify/${wallet}`)).json()
    expect(record).toMatchObject({ history: null, indexer: 'unavailable', cycles: 3 })
    expect(performance.now() - started).toBeLessThan(400)
  })
})

test('readiness names what is missing until everything answers', async () => {
  const before = await get('/ready')
  expect(before.status).toBe(503)
  expect(await before.json()).toMatchObject({ missing: ['pricing', 'indexer-reader'] })
  const rate = async () => ({ refused: 'rate_unavailable' as const })
  await using _pricing = await standIn(backbone, 'pricing', [answering(QuoteCreate, rate)])
  await using _reader = await standIn(backbone, 'indexer-reader', [])
  expect((await get('/ready')).status).toBe(200)
  const metrics = await (await get('/metrics')).text()
  for (const service of ['pricing', 'payments', 'payouts', 'chain-relayer', 'indexer-reader'])
    expect(metrics).toContain(`service_up{service="${service}"`)
  expect(metrics).toContain('service_figure{service="gateway",figure="outbox_waiting"}')
})

describe('an identity', () => {
  test('that is approved is verified on the chain, then given native coin, once', async () => {
    const wallet = walletOf(freshWallet())
    const at = Date.now()
    expect(await (await review(wallet, 'GREEN', at)).json()).toEqual({ status: 'recorded' })
    const order = await published(flagOrderId(wallet, BigInt(at)))
    expect(order.payload).toEqual({ wallet, verified: true, revision: String(at) })
    await settle(wallet, BigInt(at))
    await settle(wallet, BigInt(at))
    expect((await published(dripOrderId(wallet))).payload).toEqual({ wallet })
    await relayer.tell(relaySettled('drip'), {
      operationId: 'op_2',
      cause: wallet,
      wallet,
      txHash: null,
      blockNumber: null,
    })
    const row = await waitUntil('the drip', async () => {
      const seen = await identityOf(wallet)
      return seen?.dripSettledAt ? seen : undefined
    })
    expect(row).toMatchObject({ state: 'verified', sweepAt: null })
  })
  test('that is withdrawn and approved again is ordered each time, but never dripped again', async () => {
    const wallet = walletOf(freshWallet())
    const at = Date.now() - 10_000
    for (const [step, answer] of (['GREEN', 'RED', 'GREEN'] as const).entries()) {
      await review(wallet, answer, at + step)
      const order = await published(flagOrderId(wallet, BigInt(at + step)))
      expect(order.payload).toMatchObject({ verified: answer === 'GREEN' })
      await settle(wallet, BigInt(at + step))
      await waitUntil('the flag', async () => (await identityOf(wallet))?.flagSettledAt)
    }
    const all = await backbone.database.read((db) =>
      db.select().from(outbox).where(eq(outbox.subject, 'relay.drip')),
    )
    expect(all.filter((row) => (row.payload as { wallet: string }).wallet === wallet)).toHaveLength(
      1,
    )
  })
  test('whose approval arrives after the later rejection stays rejected', async () => {
    const wallet = walletOf(freshWallet())
    const at = Date.now() - 10_000
    await review(wallet, 'RED', at + 1)
    await becomes(wallet, 'rejected')
    const handled = async () =>
      (await backbone.database.read((db) => db.select().from(inbox))).length
    const before = await handled()
    await review(wallet, 'GREEN', at)
    await waitUntil('the late approval', async () => (await handled()) > before)
    expect(await identityOf(wallet)).toMatchObject({ state: 'rejected', revision: null })
  })
  test('that the relayer gives up on is marked for a person', async () => {
    const wallet = walletOf(freshWallet())
    const at = Date.now()
    await review(wallet, 'GREEN', at)
    await published(flagOrderId(wallet, BigInt(at)))
    await relayer.tell(relayFailed('verify'), {
      operationId: 'op',
      cause: flagCause(wallet, BigInt(at)),
      wallet,
      reason: 'reverted',
    })
    const row = await waitUntil('the failure', async () => {
      const seen = await identityOf(wallet)
      return seen?.failedAt ? seen : undefined
    })
    expect(row).toMatchObject({ failure: 'reverted', sweepAt: null, dripOrderedAt: null })
  })
  test('that is verified needs no link', async () => {
    const who = freshWallet()
    await review(walletOf(who), 'GREEN')
    await becomes(walletOf(who), 'verified')
    const headers = { authorization: await headerOf(who, hour()) }
    const response = await fetch(`${gateway.url}/me/verification`, { method: 'POST', headers })
    expect(await response.json()).toEqual({ verified: true, url: null })
  })
})

describe('an order that stays quiet', () => {
  const approve = async (verified: boolean, native = '0') => {
    const wallet = walletOf(freshWallet())
    const at = Date.now()
    onChain.set(wallet, { verified, native })
    await review(wallet, 'GREEN', at)
    const id = flagOrderId(wallet, BigInt(at))
    return { wallet, id, publishedAt: (await published(id)).publishedAt! }
  }
  const again = (id: string, before: Date) =>
    waitUntil(`${id} again`, async () => (await published(id)).publishedAt! > before)

  test('counts as settled when the chain already says so, and the coin follows', async () => {
    const { wallet } = await approve(true)
    await sweepLater(minuteMs)
    await published(dripOrderId(wallet))
    expect((await identityOf(wallet))?.flagSettledAt).not.toBeNull()
  })
  test('is ordered again under its old id when it does not, ever more rarely', async () => {
    const { wallet, id, publishedAt } = await approve(false)
    await sweepLater(minuteMs / 2)
    expect((await published(id)).publishedAt).toEqual(publishedAt)
    await sweepLater(minuteMs)
    await again(id, publishedAt)
    const row = await identityOf(wallet)
    expect(row).toMatchObject({ flagSettledAt: null, sweeps: 1 })
    await sweepLater(2 * minuteMs)
    const waited = (await identityOf(wallet))!.sweepAt!.getTime() - row!.sweepAt!.getTime()
    expect(Math.round(waited / minuteMs)).toBe(3)
  })
  test('of coin is ordered again, and ends when there is coin in the wallet', async () => {
    const { wallet } = await approve(true, '5')
    await sweepLater(minuteMs)
    const first = (await published(dripOrderId(wallet))).publishedAt!
    await sweepLater(2 * minuteMs + 1_000)
    await again(dripOrderId(wallet), first)
    expect((await identityOf(wallet))?.dripSettledAt).toBeNull()
    await sweepLater(4 * minuteMs)
    const row = await identityOf(wallet)
    expect(row?.sweepAt).toBeNull()
    expect(row?.dripSettledAt).not.toBeNull()
  })
})

describe('a delivery of the payment provider', () => {
  const post = (name: string) =>
    fetch(`${gateway.url}/webhooks/payments`, {
      method: 'POST',
      body: JSON.stringify({ event: 'payment.capture', data: { id: name } }),
      headers: { 'x-callback-token': 'token-id', 'webhook-id': name },
    })
  test('is recorded once, also when it comes twenty times at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => post('at-once').then((r) => r.json())),
    )
    const recorded = answers.filter(
      (answer) => (answer as { status: string }).status === 'recorded',
    )
    expect(recorded).toHaveLength(1)
  })
  test('is 503 while the stream is down, and recorded when it is back', async () => {
    await backbone.nats.stop()
    const down = await post('while-down')
    expect([down.status, down.headers.get('retry-after')]).toEqual([503, '5'])
    await backbone.nats.start()
    await waitUntil('a recorded delivery', async () => (await post('while-down')).ok)
    expect(await (await post('while-down')).json()).toEqual({ status: 'duplicate' })
  }, 30_000)
})
