import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type JetStreamManager } from 'nats'
import postgres from 'postgres'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { outsideOf } from '#infra/demo/external'
import { type Person, personOf } from '#infra/demo/person'
import type { Stack, StackProcess } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { streams as plans } from '#infra/nats/topology'
import { type Dependencies, startBackbone, startGateway } from '../../services/gateway/test-support/dependencies'
import { groupStack } from '../runner/group'
import { newUser, verifiedUser } from '../support/people'
import { answered, cashoutBody, openCheckout } from '../support/requests'
import { scrape, valueIn } from '../support/telemetry/metrics'
import { becomes, resume, suspend } from '../support/wait'

let stack: Stack
let person: Person

beforeAll(async () => {
  stack = groupStack()
  person = await verifiedUser(stack, { ausdMicro: 20_000_000n })
})

describe('an attacker forges the cursor of a list', () => {
  const good = '2026-11-21T06:09:00.000Z'
  const cursorOf = (createdAt: string, id: string) => Buffer.from(JSON.stringify([createdAt, id])).toString('base64url')
  test.each([
    ['a NUL byte in its id', cursorOf(good, 'pay_\0')],
    ['31 February', cursorOf('2026-02-31T00:00:00.000Z', 'pay_1')],
    ['29 February of a common year', cursorOf('2026-02-29T00:00:00.000Z', 'pay_1')],
    ['hour 24', cursorOf('2026-11-21T24:00:00.000Z', 'pay_1')],
    ['the year 0, which Postgres does not know', cursorOf('0000-01-01T00:00:00.000Z', 'pay_1')],
    ['half a surrogate pair', cursorOf(good, 'pay_\ud800')],
  ])('with %s, and gets a 400 instead of an internal error', async (_, cursor) => {
    const { status, body } = await answered(() => person.get(`/me/activity?cursor=${cursor}`))
    expect([status, body.error]).toEqual([400, 'cursor is invalid: use nextCursor of the previous page'])
  })
})

describe("an attacker overloads the operators' routes", () => {
  const at = (path: string) => fetch(`${stack.info.gateway}${path}`)
  const cachedMs = 5_000
  /** Time in ms for which a refused readiness is cached. */
  const noCachedMs = 1_000

  test('by requesting the metrics of all services, which the public port does not serve', async () => {
    expect((await at('/metrics')).status).toBe(404)
    const isUp = async () => valueIn(await scrape(stack), 'ausd_service_up', { service: 'payments' })
    await becomes(isUp, 1)
  })

  test('by 300 readiness requests: the services are asked once in 5 s', async () => {
    const { url, admin } = stack.info.nats
    const nc = await connect({ servers: url, user: admin.user, pass: admin.password })
    const pings = nc.subscribe('$SRV.PING')
    await nc.flush()
    const startedAt = Date.now()
    const statuses = new Set<number>()
    const ask = async () => {
      const answer = await at('/ready')
      await answer.text()
      statuses.add(answer.status)
    }
    for (let round = 0; round < 30; round++) await Promise.all(Array.from({ length: 10 }, ask))
    const keptMs = statuses.has(503) ? noCachedMs : cachedMs
    const roundsMax = Math.ceil((Date.now() - startedAt) / keptMs) + 1
    await nc.flush()
    expect(pings.getReceived()).toBeLessThanOrEqual(roundsMax)
    await nc.close()
  })

  test('to learn which dependency is down: the response names none', async () => {
    const pricing = stack.process('pricing')
    await pricing.stop('SIGTERM')
    try {
      const no = await waitUntil('the public no', async () => {
        const answer = await at('/ready')
        return answer.status === 503 && answer
      })
      expect(await no.json()).toEqual({ error: 'not ready' })
      const details = async () => {
        const answer = await fetch(`${stack.info.ops.gateway}/ready`)
        return [answer.status, await answer.json()]
      }
      await becomes(details, [503, { missing: ['pricing'] }])
    } finally {
      pricing.start()
    }
    await becomes(async () => (await at('/ready')).json(), { status: 'ready' })
  })
})

describe('an attacker with one address', () => {
  const perMinute = 60
  let backbone: Dependencies
  let limited: { readonly url: string } & AsyncDisposable
  beforeAll(async () => {
    backbone = await startBackbone()
    limited = await startGateway(backbone, {
      rateLimitSignInsPerMinute: perMinute,
      trustedProxies: ['192.0.2.1', '198.51.100.0/24'],
    })
  })
  afterAll(async () => {
    await limited?.[Symbol.asyncDispose]()
    await backbone?.[Symbol.asyncDispose]()
  })

  /** Returns the calls of 150 that exceed the limit of signed routes. */
  async function tooMany(call: (number: number) => Promise<{ status: number }>) {
    const startedAt = Date.now()
    const statuses: number[] = []
    for (let number = 0; number < 150; number++) statuses.push((await call(number)).status)
    const refilled = Math.ceil(((Date.now() - startedAt) * perMinute) / 60_000)
    const through = statuses.filter((status) => status !== 429).length
    return Math.max(0, through - perMinute - refilled)
  }
  const withHeaders = (headers: Record<string, string>) => fetch(`${limited.url}/me`, { headers })

  test('signs in as new wallets without end, which share one limit', async () => {
    const next = () => personOf({ ...stack.info, gateway: limited.url }, generatePrivateKey())
    expect(await tooMany(() => next().get('/me'))).toBe(0)
  })

  test('sends forged signatures, which are limited before they are checked', async () => {
    const until = Math.floor(Date.now() / 1000) + 60
    const forged = (number: number) => {
      const wallet = `0x${number.toString(16).padStart(40, '0')}`
      return `Service ${wallet}.${until}.0x${'11'.repeat(64)}1b`
    }
    expect(await tooMany((number) => withHeaders({ authorization: forged(number) }))).toBe(0)
    expect(await tooMany(() => withHeaders({ authorization: 'Service x' }))).toBe(0)
  })

  test('forges X-Forwarded-For, which only a trusted proxy may set', async () => {
    const elsewhere = (number: number) => ({ 'x-forwarded-for': `203.0.113.${number}` })
    expect(await tooMany((number) => withHeaders(elsewhere(number)))).toBe(0)
  })
})

describe('a dependency of the service hangs', () => {
  /** Longest time of a call in ms. It takes 2 s on a quiet machine; calls once waited 8 to 10 s. */
  const soonMs = 7_000
  const webhook = () => {
    const headers = { 'x-callback-token': stack.info.webhooks.payments.ID, 'webhook-id': 'hanging' }
    const request = { method: 'POST', headers, body: '{"event":"probe"}' }
    return fetch(`${stack.info.gateway}/webhooks/payments`, request)
  }
  const quote = () => person.post('/quote', { pair: 'USD/IDR' })
  const record = () => person.get(`/verify/0x${'5'.repeat(40)}`)
  const me = () => person.get('/me')
  const activity = () => person.get('/me/activity')
  const country = () => person.post('/me/country', { country: 'ID' })
  /** Sends a request whose session only the chain can verify, because its signer claims to be a contract. */
  const signInByContract = () => {
    const owner = privateKeyToAccount(generatePrivateKey())
    const wallet = privateKeyToAddress(generatePrivateKey())
    return personOf(stack.info, { ...owner, address: wallet }).post('/me/country', {
      country: 'ID',
    })
  }
  const signInByKey = () => personOf(stack.info, generatePrivateKey()).post('/me/country', { country: 'ID' })
  let bodies: Record<'/topups' | '/settlements' | '/cashouts' | '/sends', object>
  const money = (path: keyof typeof bodies) => () => person.post(path, bodies[path])

  // A request that reached a hanging owner may be accepted later.
  beforeEach(async () => {
    const { id: quoteId } = await person.quote('USD/IDR')
    const to = `0x${'7'.repeat(40)}` as const
    bodies = {
      '/topups': { amount: '520000', method: 'bank', quoteId },
      '/settlements': { quoteId },
      '/cashouts': await cashoutBody(stack, person),
      '/sends': { authorization: await person.sign({ to, valueMicro: 1_000_000n }) },
    }
    await person.me()
  })

  /** Makes Postgres hang: its connections stay open without answers. */
  const hangPostgres = async () => {
    const sql = postgres(stack.info.postgres.url, { max: 1 })
    const backends = await sql<{ pid: number }[]>`
      select pid from pg_stat_activity
      where backend_type = 'client backend' and pid <> pg_backend_pid()`
    await sql.end()
    const pids = [...backends.map(({ pid }) => pid), stack.process('postgres').pid()]
    await suspend(...pids)
    return () => resume(...pids)
  }
  const hang = (name: StackProcess) => async () => {
    await suspend(stack.process(name).pid())
    return () => stack.process(name).kill('SIGCONT')
  }
  const allMoney = (['/topups', '/settlements', '/cashouts', '/sends'] as const).map(money)

  test.each<[string, () => Promise<() => unknown>, (() => Promise<{ status: number }>)[]]>([
    ['Postgres', hangPostgres, [me, activity, country, ...allMoney]],
    ['NATS', hang('nats-server'), [quote, record, me, activity, webhook, signInByContract, ...allMoney]],
    ['pricing', hang('pricing'), [quote, money('/topups'), money('/cashouts')]],
    ['payments', hang('payments'), [activity]],
    ['the relayer', hang('chain-relayer'), [record, me, activity, signInByContract, ...allMoney.slice(0, 3)]],
    ['the chain', hang('chain'), [record, me, signInByContract, ...allMoney]],
  ])('%s: callers get a 503 soon, so requests do not pile up', async (_, begin, calls) => {
    const end = await begin()
    try {
      const startedAt = Date.now()
      const answers = await Promise.all(
        calls.map(async (call) => {
          const { status } = await call()
          return { status, soon: Date.now() - startedAt < soonMs }
        }),
      )
      expect(answers).toEqual(calls.map(() => ({ status: 503, soon: true })))
    } finally {
      end()
    }
    await waitUntil('everything being well again', async () => {
      const answers = await Promise.all([quote(), record(), me(), activity()])
      return answers.every(({ status }) => status === 200)
    })
  })

  test('the chain, needed only by contract wallets: users with a key are not affected', async () => {
    const end = await hang('chain')()
    try {
      const waiting = [1, 2, 3].map(signInByContract)
      expect(await answered(signInByKey)).toMatchObject({ status: 200 })
      expect(await Promise.all(waiting)).toMatchObject(waiting.map(() => ({ status: 503 })))
      expect(await answered(signInByKey)).toMatchObject({ status: 200 })
    } finally {
      end()
    }
    await waitUntil('the answer', async () => (await signInByContract()).status === 401)
  })
})

describe('an attacker with many wallets keeps checkouts open and unpaid', () => {
  test('but a paid checkout without a webhook is still found', async () => {
    const outside = outsideOf(stack.info)
    const payer = await verifiedUser(stack)
    await outside.faults({ webhooks: { drop: 1 } })
    const sql = postgres(stack.adminUrl, { max: 1, onnotice: () => {} })
    // The reading of the last days must not become due during the test.
    await sql`
      insert into payments.listings (account, "window", due_at, read_at)
      select account, "window", now() + interval '1 hour', now()
      from unnest(array['ID', 'MY']) account, unnest(array['recent', 'whole']) "window"
      on conflict (account, "window") do update
        set due_at = excluded.due_at, read_at = excluded.read_at`
    const { paymentId, ausd } = await openCheckout(payer)
    const looks = async () => {
      const [row] = await sql`
        select sum(checks)::int as looks from payments.payments where id like 'pay_unpaid%'`
      return row!.looks as number
    }
    try {
      // The rows are an hour of quotes and checkouts, each of another wallet.
      await sql`
        insert into payments.payments (id, kind, state, wallet, pair, currency, rate_minor_per_usd,
          fiat_minor, ausd_micro, method, quote_id, request_fingerprint, account, checkout_id, checkout_url,
          expires_at, next_check_at)
        select 'pay_unpaid' || lpad(n::text, 16, '0'), kind, state, '0x' || lpad(to_hex(n), 40, '0'),
          pair, currency, rate_minor_per_usd, fiat_minor, ausd_micro, method, gen_random_uuid(),
          request_fingerprint, account, 'ps-unpaid-' || n, checkout_url, expires_at, now() - interval '1 minute'
        from payments.payments, generate_series(1, 600) n where id = ${paymentId}`
      const latest = () => sql`
        select 1 from payments.listings where "window" = 'latest' and read_at is not null`
      await waitUntil('the list being read', async () => (await latest()).length === 2)
      // A round that began earlier may still be running.
      await sql`
        update payments.payments set state = 'expired', checks = 0, expires_at = now() - interval '8 hours',
          next_check_at = now() - interval '7 hours' where id = ${`pay_unpaid${'1'.padStart(16, '0')}`}`
      const isLooked = async () =>
        (
          await sql`
        select 1 from payments.payments
        where id like 'pay_unpaid%' and state = 'expired' and checks > 0`
        ).length === 1
      await waitUntil('a round', isLooked)
      const before = await looks()
      await outside.pay(paymentId, 'QRIS')
      await payer.until('the credit', (me) => me.collateral?.value === ausd)
      // Payments covered by the list are not polled individually.
      expect((await looks()) - before).toBe(0)
    } finally {
      await outside.calm()
      await sql`delete from payments.payments where id like 'pay_unpaid%'`
      await sql.end()
    }
  })
})

describe('an attacker floods one stream', () => {
  const withAdmin = async <T>(work: (manager: JetStreamManager) => Promise<T>): Promise<T> => {
    const { url, admin } = stack.info.nats
    const nc = await connect({ servers: url, user: admin.user, pass: admin.password })
    try {
      return await work(await nc.jetstreamManager())
    } finally {
      await nc.close()
    }
  }
  const fill = (name: string) =>
    withAdmin(async ({ streams }) => {
      const { state } = await streams.info(name)
      await streams.update(name, { max_bytes: Math.max(1, state.bytes) })
    })
  const deliver = async (name: string) => {
    const headers = { 'x-callback-token': stack.info.webhooks.payments.ID, 'webhook-id': name }
    const request = { method: 'POST', headers, body: '{"event":"probe"}' }
    const answer = await fetch(`${stack.info.gateway}/webhooks/payments`, request)
    return answer.ok ? ((await answer.json()) as { status: string }).status : answer.status
  }

  test('but other streams still accept messages: each has its own limit', async () => {
    const bounds = await withAdmin(async ({ streams }) => {
      const all = await Promise.all(plans.map(({ name }) => streams.info(name)))
      return all.map(({ config }) => config.max_bytes)
    })
    expect(Math.min(...bounds)).toBeGreaterThan(0)
    const { config } = (await (await fetch(`${stack.info.nats.monitor}/jsz`)).json()) as {
      config: { max_storage: number }
    }
    expect(bounds.reduce((sum, bound) => sum + bound, 0)).toBeLessThan(config.max_storage)
  })

  test('so deliveries are refused, and the provider retries them', async () => {
    await fill('WEBHOOKS')
    try {
      expect(await deliver('in a flood')).toBe(503)
      const log = join(stack.dir, 'logs/gateway.log')
      const called = () => /"stream":"WEBHOOKS".*"alarm":true,"msg":"stream nearly full/.test(readFileSync(log, 'utf8'))
      await waitUntil('an alarm', called)
      await waitUntil('the figure', async () => {
        const samples = await scrape(stack)
        const [used, limit] = ['ausd_stream_bytes', 'ausd_stream_limit_bytes'].map((name) =>
          valueIn(samples, name, { stream: 'WEBHOOKS' }),
        )
        return used! / limit! > 0.7
      })
    } finally {
      await stack.provision()
    }
    const told = () =>
      waitUntil('an answer', async () => {
        const status = await deliver('in a flood')
        return status !== 503 && status
      })
    expect([await told(), await told()]).toEqual(['recorded', 'duplicate'])
  })

  test('so orders to the relayer wait in their outbox for space', async () => {
    await fill('COMMANDS')
    const person = await (async () => {
      try {
        const rich = await newUser(stack, { ausdMicro: 20_000_000n })
        await outsideOf(stack.info).identity(rich.wallet, 'approved')
        await waitUntil('the refusal', () =>
          /maximum bytes exceeded/.test(readFileSync(join(stack.dir, 'logs/gateway.log'), 'utf8')),
        )
        return rich
      } finally {
        await stack.provision()
      }
    })()
    await person.until('the order being followed', (me) => me.verified)
  })
})
