import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'nats'
import { generatePrivateKey } from 'viem/accounts'
import { type Person, personOf } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { newUser } from '../support/people'
import { ownStack, quickChecks } from '../support/stack'

let stack: Stack
let person: Person

beforeAll(async () => {
  stack = await ownStack()
  person = await newUser(stack)
}, 90_000)
afterAll(() => stack?.[Symbol.asyncDispose]())

describe('an attacker makes up the cursor of a list', () => {
  const good = '2026-11-21T06:09:00.000Z'
  const cursorOf = (createdAt: string, id: string) =>
    Buffer.from(JSON.stringify([createdAt, id])).toString('base64url')
  test.each([
    ['a NUL byte in its id', cursorOf(good, 'pay_\0')],
    ['31 February', cursorOf('2026-02-31T00:00:00.000Z', 'pay_1')],
    ['29 February of a common year', cursorOf('2026-02-29T00:00:00.000Z', 'pay_1')],
    ['hour 24', cursorOf('2026-11-21T24:00:00.000Z', 'pay_1')],
    ['the year 0, which Postgres does not know', cursorOf('0000-01-01T00:00:00.000Z', 'pay_1')],
    ['half a surrogate pair', cursorOf(good, 'pay_\ud800')],
  ])('with %s, for a fault inside: 400', async (_, cursor) => {
    const { status, body } = await person.get(`/me/activity?cursor=${cursor}`)
    expect([status, body.error]).toEqual([400, 'cursor is not one that this list gave'])
  })
})

describe('an attacker hammers what is for operators', () => {
  const at = (path: string) => fetch(`${stack.info.gateway}${path}`)
  const cachedMs = 5_000

  test('by asking for the figures of all services: they are elsewhere', async () => {
    expect((await at('/metrics')).status).toBe(404)
    const figures = await (await fetch(`${stack.info.ops.gateway}/metrics`)).text()
    expect(figures).toContain('service_up{service="payments",instance=')
  })

  test('by asking 300 times whether all is well: the services are asked once in 5 s', async () => {
    const { url, admin } = stack.info.nats
    const nc = await connect({ servers: url, user: admin.user, pass: admin.password })
    const pings = nc.subscribe('$SRV.PING')
    await nc.flush()
    const startedAt = Date.now()
    for (let round = 0; round < 30; round++)
      await Promise.all(Array.from({ length: 10 }, () => at('/ready').then((one) => one.text())))
    const roundsMax = Math.ceil((Date.now() - startedAt) / cachedMs) + 1
    await nc.flush()
    expect(pings.getReceived()).toBeLessThanOrEqual(roundsMax)
    await nc.close()
  })

  test('to learn which part is down: it is told that one is', async () => {
    const pricing = stack.process('pricing')
    await pricing.stop('SIGTERM')
    try {
      const no = await waitUntil(
        'the public no',
        async () => {
          const answer = await at('/ready')
          return answer.status === 503 && answer
        },
        4 * cachedMs,
      )
      expect(await no.json()).toEqual({ error: 'not ready' })
      const details = await fetch(`${stack.info.ops.gateway}/ready`)
      expect([details.status, await details.json()]).toEqual([503, { missing: ['pricing'] }])
    } finally {
      pricing.start()
    }
    await waitUntil('the public yes', async () => (await at('/ready')).ok, 4 * cachedMs)
    expect(await (await at('/ready')).json()).toEqual({ status: 'ready' })
  }, 50_000)
})

describe('an attacker with one address', () => {
  const perMinute = 60
  let limited: Stack
  beforeAll(async () => {
    const gateway = {
      RATE_LIMIT_SIGNED_PER_ADDRESS_PER_MINUTE: String(perMinute),
      TRUSTED_PROXIES: '192.0.2.1,198.51.100.0/24',
    }
    limited = await ownStack({ env: { ...quickChecks, gateway } })
  }, 90_000)
  afterAll(() => limited?.[Symbol.asyncDispose]())

  /** How many of 150 calls of signed routes are more than the limit lets through. */
  async function tooMany(call: (number: number) => Promise<{ status: number }>) {
    const startedAt = Date.now()
    const statuses: number[] = []
    for (let number = 0; number < 150; number++) statuses.push((await call(number)).status)
    const refilled = Math.ceil(((Date.now() - startedAt) * perMinute) / 60_000)
    const through = statuses.filter((status) => status !== 429).length
    return Math.max(0, through - perMinute - refilled)
  }
  const withHeaders = (headers: Record<string, string>) =>
    fetch(`${limited.info.gateway}/me`, { headers })

  test('signs in as many wallets, each with a limit of its own: they have one together', async () => {
    const wallets = Array.from({ length: 10 }, () => personOf(limited.info, generatePrivateKey()))
    expect(await tooMany((number) => wallets[number % wallets.length]!.get('/me'))).toBe(0)
  })

  test('has signatures checked that nobody made: limited before any is looked at', async () => {
    const until = Math.floor(Date.now() / 1000) + 60
    const forged = (number: number) => {
      const wallet = `0x${number.toString(16).padStart(40, '0')}`
      return `Service ${wallet}.${until}.0x${'11'.repeat(64)}1b`
    }
    expect(await tooMany((number) => withHeaders({ authorization: forged(number) }))).toBe(0)
    expect(await tooMany(() => withHeaders({ authorization: 'Service x' }))).toBe(0)
  })

  test('says in X-Forwarded-For that each call is from elsewhere: only a proxy is believed', async () => {
    const elsewhere = (number: number) => ({ 'x-forwarded-for': `203.0.113.${number}` })
    expect(await tooMany((number) => withHeaders(elsewhere(number)))).toBe(0)
  })
})
