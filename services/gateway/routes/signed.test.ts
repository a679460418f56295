import { describe, expect, test } from 'bun:test'
import { refusals } from '#shared/declared-refusals'
import type { RefusalCode } from '#shared/refusals'
import { type BodyPath, goodBodies } from '../test-support/bodies'
import { config, errorOf, fixtureOf, okay, type Replies, refusing } from '../test-support/fixture'
import { ana, budi, headerOf, nowSeconds, walletOf } from '../test-support/wallets'

const routes: readonly [method: string, path: string, subject: string | undefined][] = [
  ['POST', '/topups', 'payments.topup.create'],
  ['POST', '/settlements', 'payments.settlement.create'],
  ['POST', '/cashouts', 'payouts.cashout.create'],
  ['POST', '/cashouts/check', 'payouts.account.check'],
  ['POST', '/sends', 'chain.send.create'],
  ['POST', '/me/country', undefined],
  ['POST', '/me/verification', undefined],
  ['GET', '/me', 'chain.account'],
  ['GET', '/me/activity', 'payments.activity'],
  ['GET', `/me/activity/pay_${'x'.repeat(22)}`, 'payments.item'],
  ['GET', '/me/events', 'chain.account'],
  ['GET', '/me/export', 'payments.person.read'],
  ['GET', '/me/statement', 'indexer.statement'],
  ['GET', `/me/activity/pay_${'x'.repeat(22)}/receipt`, 'payments.item'],
  ['POST', `/topups/pay_${'x'.repeat(22)}/cancel`, 'payments.checkout.cancel'],
  ['POST', `/settlements/pay_${'x'.repeat(22)}/cancel`, 'payments.checkout.cancel'],
]
const money = routes.slice(0, 5) as [string, BodyPath, string][]
const again = ': sign in again'

describe.each(['/sends', '/cashouts'] as const)('a frozen wallet that is refused %s', (path) => {
  const subject = path === '/sends' ? 'chain.send.create' : 'payouts.cashout.create'
  test.each([
    ['is told to repay if it owes', okay({ isOwing: true }), 403, 'wallet_frozen'],
    ['is told to wait while a refund or dispute is open', okay({ isOwing: false }), 403, 'wallet_in_doubt'],
    ['is asked to try again while payments does not answer', undefined, 503, expect.anything()],
  ] as const)('%s', async (_, freeze, status, code) => {
    const fixture = await fixtureOf({
      [subject]: refusing('wallet_frozen'),
      ...(freeze ? { 'payments.freeze': freeze } : {}),
    } as Replies)
    const reply = await fixture.call('POST', path, {
      headers: { authorization: await headerOf(ana) },
      body: goodBodies[path],
    } as never)
    expect([reply.status, reply.headers.get('x-error-code')]).toEqual([status, code])
  })
})

test('every operation that needs a session is among those tried here', async () => {
  const { paths } = (await (await (await fixtureOf()).call('GET', '/openapi.json')).json()) as {
    paths: Record<string, Record<string, { security: object[] }>>
  }
  const needing = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { security }]) =>
      security.some((one) => 'session' in one) ? [`${method.toUpperCase()} ${path}`] : [],
    ),
  )
  const tried = routes.map(([method, path]) => `${method} ${path.replace(/pay_x+/, '{id}')}`)
  expect(tried.sort()).toEqual(needing.sort())
})

describe.each(routes)('%s %s checks the session first:', async (method, path) => {
  const shared = await fixtureOf({ 'chain.signature.check': okay({ valid: false }) })
  test.each<[string, () => Promise<string> | string | undefined, string]>([
    ['without a session', () => undefined, `the Authorization header is missing${again}`],
    [
      'with a malformed one',
      () => 'Service x',
      `the Authorization header must be Service <wallet>.<until>.<signature>${again}`,
    ],
    ['with an expired one', () => headerOf(ana, nowSeconds - 1), `the session has expired${again}`],
    [
      'with one 8 days ahead',
      () => headerOf(ana, nowSeconds + 8 * 86_400),
      `until in the session is more than 7 days ahead${again}`,
    ],
    [
      'with another key',
      () => headerOf(budi, nowSeconds + 60, { wallet: ana.address }),
      `the session was not signed by its wallet${again}`,
    ],
  ])('answers 401: %s', async (_, header, message) => {
    const authorization = await header()
    const headers: Record<string, string> = authorization ? { authorization } : {}
    const response = await shared.call(method, path, {
      headers,
      ...(method === 'POST' ? { raw: 'not even JSON' } : {}),
    })
    expect([response.status, await errorOf(response)]).toEqual([401, message])
    expect(shared.users.rows.size).toBe(0)
  })
  test("answers 429 above the wallet's limit, and not to another wallet", async () => {
    const fixture = await fixtureOf({}, { config: { ...config, rateLimitSignedPerMinute: 1 } })
    const as = async (who: typeof ana) =>
      fixture.call(method, path, { headers: { authorization: await headerOf(who) } })
    await as(ana)
    const response = await as(ana)
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '60'])
    expect(await errorOf(response)).toBe('too many requests, slow down')
    expect((await as(budi)).status).not.toBe(429)
  })
  test("answers 429 to a new session above the address's limit, and not to another address", async () => {
    const over = { config: { ...config, rateLimitSignInsPerMinute: 1 } }
    const fixture = await fixtureOf({}, over)
    await fixture.call(method, path)
    const headers = { authorization: await headerOf(ana) }
    const response = await fixture.call(method, path, { headers })
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '60'])
    expect((await fixture.call(method, path, { headers, from: '192.0.2.1' })).status).not.toBe(429)
  })
  // Links to the identity verification have a limit of their own per address.
  test.if(path !== '/me/verification')(
    'answers all people behind one address, whatever strangers do there',
    async () => {
      const over = { config: { ...config, rateLimitSignInsPerMinute: 2 } }
      const fixture = await fixtureOf({}, over)
      const call = async (authorization?: string) =>
        errorOf(await fixture.call(method, path, { headers: authorization ? { authorization } : {} }))
      const tooMany = 'too many requests, slow down'
      const people = [await headerOf(ana), await headerOf(budi)]
      for (const person of people) expect(await call(person)).not.toBe(tooMany)
      expect(await call()).toBe(tooMany)
      for (let times = 0; times < 20; times++) for (const person of people) expect(await call(person)).not.toBe(tooMany)
    },
  )
})

describe.each(money)('%s %s', async (method, path, subject) => {
  const replies: Replies = { 'payments.freeze': okay({ isOwing: true }) }
  const fixture = await fixtureOf(replies)
  const call = async (reply?: () => unknown) => {
    if (reply) replies[subject] = reply
    else delete replies[subject]
    fixture.asked.length = 0
    const headers = { authorization: await headerOf(ana) }
    return fixture.call(method, path, { body: goodBodies[path], headers })
  }
  test('asks its service once, for the wallet of the session, and returns the response', async () => {
    const answer = { verdict: 'match' }
    const response = await call(okay(answer))
    const worded = path === '/cashouts/check' ? { sentence: expect.any(String) } : {}
    expect([response.status, await response.json()]).toEqual([200, { ...answer, ...worded }])
    expect(fixture.asked).toEqual([[subject, { wallet: walletOf(ana), ...goodBodies[path] }]])
  })
  test.each(Object.keys(refusals) as RefusalCode[])(
    'answers the refusal %s with the status and text of its record',
    async (code) => {
      const response = await call(refusing(code))
      const { status, text } = refusals[code]
      const message: string = text.en
      const contact = /contact support/.test(message) ? ' Support: help@example.org' : ''
      expect([response.status, await errorOf(response)]).toEqual([status, message + contact])
      const isForNow = [429, 503].includes(refusals[code].status)
      expect(response.headers.has('retry-after')).toBe(isForNow)
    },
  )
  test('answers 503 with Retry-After when its service does not respond', async () => {
    const response = await call()
    expect([response.status, await errorOf(response)]).toEqual([503, 'the service is busy, try again'])
    expect(response.headers.get('retry-after')).toBe('2')
  })
  test('answers 500 without the cause after an internal error', async () => {
    const response = await call(() => {
      throw new TypeError('secret detail')
    })
    expect([response.status, await errorOf(response)]).toEqual([500, 'something went wrong'])
  })
})
