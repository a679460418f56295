import { describe, expect, test } from 'bun:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { DeadlinePassed } from '#platform/deadline'
import { GetMe } from '#shared/api/account'
import type { RouteAnswer } from '#shared/api/route'
import { textIn } from '#shared/language/catalogue'
import { zoneOf } from '#shared/language/time'
import type { ActivityEntry } from '#shared/messages/activity'
import { waitUntil } from '#test/support/wait'
import type { Context } from '../context'
import { account, entryAt } from '../test-support/bodies'
import {
  config,
  contextOf,
  errorOf,
  type Fixture,
  fixtureOf,
  okay,
  type Replies,
  refusing,
} from '../test-support/fixture'
import { ana, budi, headerOf, nowMs, walletOf } from '../test-support/wallets'
import { parseCursor } from './activity'
import { dueText } from './due'

const headers = { authorization: await headerOf(ana) }
const permission = { maxPerCycle: '500000000', source: 'collateral', taken: '7', startsAt: '1797750000' }

test('the example of the account has the sentences that its user would read', () => {
  const { held, cycle, user } = GetMe.example.answer as RouteAnswer<typeof GetMe>
  expect(held.map(({ what, sentence }) => [what, sentence])).toEqual([
    ['collateral', textIn('en', [{ code: 'held.collateral' }])],
    ['repayment', textIn('en', [{ code: 'held.repayment' }])],
  ])
  const due = dueText(cycle!, BigInt(cycle!.openedAt))
  expect(cycle!.sentence).toBe(textIn('en', [due], { zone: zoneOf(user.country, 'en') }))
})

describe('GET /me', () => {
  test("combines the account on the chain with the user's row", async () => {
    const fixture = await fixtureOf({
      'chain.account': okay({ wallet: walletOf(ana), ...account }),
    })
    await fixture.call('POST', '/me/country', { body: { country: 'ID' }, headers })
    const { blockNumber: _, blockTime: __, paused: ___, ...shown } = account
    expect(await (await fixture.call('GET', '/me', { headers })).json()).toEqual({
      ...shown,
      wallet: walletOf(ana),
      user: { country: 'ID', createdAt: new Date(nowMs).toISOString() },
      pendingUntil: '1795244460',
      limits: { topup: null, cashout: null },
      cycle: { ...account.cycle, sentence: expect.stringContaining('Repay by') },
      autoRepay: null,
      verification: expect.objectContaining({ status: 'approved', nextAction: null }),
      held: [
        {
          what: 'collateral',
          reason: 'may_be_taken_back',
          sentence: expect.any(String),
          ausd: '5',
          shares: '5000000',
          until: '1795244460',
        },
        {
          what: 'repayment',
          reason: 'may_be_taken_back',
          sentence: expect.any(String),
          ausd: '3000000',
          shares: null,
          until: '1795244470',
        },
      ],
    })
  })
  test('shows empty balances for an empty account', async () => {
    const collateral = { ...account.collateral, ...nothingPending }
    expect(await shownOf({ collateral, encumbered: '0', encumberedUntil: null })).toMatchObject({
      held: [],
    })
  })
  test('shows the next action of an unverified user', async () => {
    expect(await shownOf({ verified: false, available: '0' })).toMatchObject({
      available: '0',
      verification: { status: 'none', nextAction: 'verify' },
    })
  })
  const nothingPending = { pendingShares: '0', pendingValue: '0', pendingUntil: null }
  const shownOf = async (over: object) => {
    const fixture = await fixtureOf({ 'chain.account': okay({ ...account, ...over }) })
    return (await (await fixture.call('GET', '/me', { headers })).json()) as object
  }
  test.each<[string, object]>([
    ['more than limit less drawn', { limit: '9', drawn: '2', available: '0' }],
    ['less, where something is encumbered', { encumbered: '5', encumberedUntil: '1795244470' }],
    ['nothing, where nothing is encumbered', { encumbered: '0', encumberedUntil: null }],
    ['nothing to a wallet that is frozen', { frozen: true, available: '0' }],
  ])('shows the available amount as the chain reports it: %s', async (_, said) => {
    expect(await shownOf(said)).toMatchObject(said)
  })
  test.each<[string, string, string]>([
    ['until it is due', '1797836400', 'Repay by 21 December 2026, 07:00 UTC. A later'],
    ['in its grace period', '1797836401', 'Repay by 28 December 2026, 07:00 UTC, or your debt'],
    ['at the last second of it', '1798441200', 'Repay by 28 December 2026, 07:00 UTC, or your'],
    ['after it', '1798441201', 'due on 21 December 2026, 07:00 UTC. Repay now'],
  ])("states by the chain's time when to repay a debt: %s", async (_, blockTime, said) => {
    const sentence = expect.stringContaining(said)
    expect(await shownOf({ blockTime })).toMatchObject({ cycle: { ...account.cycle, sentence } })
  })
  test('writes the time of a debt in the zone of the country of the user', async () => {
    const fixture = await fixtureOf({ 'chain.account': okay({ ...account, blockTime: '1797836400' }) })
    await fixture.users.setCountry(walletOf(ana), 'MY')
    const me = await (await fixture.call('GET', '/me', { headers })).json()
    expect(me).toMatchObject({ cycle: { sentence: expect.stringContaining('by 21 December 2026, 15:00 MYT') } })
  })
  test.each([
    ['as the chain has it', { autoRepay: permission }, permission],
    ['as null without one', { autoRepay: null }, null],
    ['as null if the relayer is too old to read it', {}, null],
  ])('shows the permission of the automatic repayment %s', async (_, said, autoRepay) => {
    expect(await shownOf(said)).toMatchObject({ autoRepay })
  })
  test('shows no cycle when none is open', async () => {
    expect(await shownOf({ cycle: null })).toMatchObject({ cycle: null })
  })
  test('shows the limits of each service that responds in time, and null for the other', async () => {
    const limit = { day: '9', left: '2', resetsAt: '2026-11-22T00:00:00.000Z' }
    const chain = { 'chain.account': okay(account) }
    const limitsOf = async (replies: Replies) => {
      const fixture = await fixtureOf({ ...chain, ...replies })
      const response = await fixture.call('GET', '/me', { headers })
      return [response.status, ((await response.json()) as { limits: object }).limits]
    }
    const late = () => Promise.reject(new DeadlinePassed('payouts.limit', 1_200))
    expect(await limitsOf({ 'payments.limit': okay(limit), 'payouts.limit': late })).toEqual([
      200,
      { topup: limit, cashout: null },
    ])
    const down = refusing('provider_unavailable')
    expect(await limitsOf({ 'payments.limit': down, 'payouts.limit': okay(limit) })).toEqual([
      200,
      { topup: null, cashout: limit },
    ])
  })
  test('shows a user without a country', async () => {
    expect(await shownOf({})).toMatchObject({ user: { country: null } })
  })
  test('shows a new country at once, also during an earlier read', async () => {
    const fixture = await fixtureOf({ 'chain.account': okay(account) })
    const countryOf = async () => {
      const response = await fixture.call('GET', '/me', { headers })
      return ((await response.json()) as { user: { country: string | null } }).user.country
    }
    const before = countryOf()
    await fixture.call('POST', '/me/country', { body: { country: 'MY' }, headers })
    expect(await countryOf()).toBe('MY')
    await before
  })
  test('answers 503 when the chain cannot be read', async () => {
    const fixture = await fixtureOf({ 'chain.account': refusing('chain_unavailable') })
    expect((await fixture.call('GET', '/me', { headers })).status).toBe(503)
  })
})

test('accepts a country any number of times at POST /me/country', async () => {
  const fixture = await fixtureOf()
  for (const country of ['ID', 'MY']) {
    const response = await fixture.call('POST', '/me/country', { body: { country }, headers })
    expect([response.status, await response.json()]).toEqual([200, { country }])
  }
  expect(fixture.users.rows.get(walletOf(ana))?.country).toBe('MY')
})

describe('GET /me/activity', () => {
  const list = (...items: object[]) => okay({ items, inFlight: items.filter((item) => 'waiting' in item) })
  const replies: Replies = {
    'payments.activity': list(entryAt(9, 'p2', { waiting: 1 }), entryAt(5, 'p1')),
    'payouts.activity': list(entryAt(7, 'o1', { kind: 'cashout', waiting: 1 })),
    'chain.activity': list(entryAt(9, 's2', { kind: 'send' }), entryAt(1, 's1', { kind: 'send' })),
  }
  const get = async (query = '', over: Replies = {}) => {
    const fixture = await fixtureOf({ ...replies, ...over })
    const response = await fixture.call('GET', `/me/activity${query}`, { headers })
    return { fixture, response }
  }
  const ids = (entries: { id: string }[]) => entries.map(({ id }) => id)
  type Page = { items: { id: string }[]; inFlight: { id: string }[]; nextCursor: string | null }

  test('merges the entries of three services, newest first, then by id', async () => {
    const page = (await (await get()).response.json()) as Page
    expect(ids(page.items)).toEqual(['s2', 'p2', 'o1', 'p1', 's1'])
    expect(ids(page.inFlight)).toEqual(['p2', 'o1'])
    expect(page.nextCursor).toBeNull()
    expect(page.items[0]).not.toHaveProperty('inFlight')
  })
  test('returns a cursor to the end of the page, and continues from there', async () => {
    const page = (await (await get('?limit=2')).response.json()) as Page
    expect(ids(page.items)).toEqual(['s2', 'p2'])
    const { fixture } = await get(`?limit=2&cursor=${page.nextCursor}`)
    const before = { createdAt: '2026-11-21T06:09:00.000Z', id: 'p2' }
    expect(parseCursor(page.nextCursor!)).toEqual(before)
    const asked = { wallet: walletOf(ana), limit: 3, before }
    expect(fixture.asked).toEqual(
      ['payments.activity', 'payouts.activity', 'chain.activity'].map((subject) => [subject, asked]),
    )
  })
  test('has the automatic repayments of the gateway, read from the same place as the others', async () => {
    const repayment = entryAt(8, 'r1', { kind: 'autorepay', status: 'repaying' }) as ActivityEntry
    const asked: unknown[] = []
    const page = async (of: object) => {
      asked.push(of)
      return { items: [repayment], inFlight: [repayment] }
    }
    const fixture = await fixtureOf(replies, { autoRepayments: { page, item: async () => null } })
    const first = (await (await fixture.call('GET', '/me/activity?limit=2', { headers })).json()) as Page
    const cursor = `limit=2&cursor=${first.nextCursor}`
    await fixture.call('GET', `/me/activity?${cursor}`, { headers })
    const whole = (await (await fixture.call('GET', '/me/activity', { headers })).json()) as Page
    expect(ids(whole.items)).toEqual(['s2', 'p2', 'r1', 'o1', 'p1', 's1'])
    expect(ids(whole.inFlight)).toEqual(['p2', 'r1', 'o1'])
    const before = { createdAt: '2026-11-21T06:09:00.000Z', id: 'p2' }
    const wallet = walletOf(ana)
    expect(asked).toEqual([
      { wallet, limit: 3 },
      { wallet, limit: 3, before },
      { wallet, limit: 21 },
    ])
  })
  test('answers 304 without a body until the account changes', async () => {
    const { fixture, response } = await get()
    const etag = response.headers.get('etag') ?? ''
    expect(etag).toMatch(/^"[\w-]+"$/)
    const having = { headers: { ...headers, 'if-none-match': etag } }
    const again = await fixture.call('GET', '/me/activity', having)
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
    expect(again.headers.get('cache-control')).toBe('no-store')
    const changed = { ...replies, 'chain.activity': list(entryAt(10, 's3', { kind: 'send' })) }
    const later = await (await fixtureOf(changed)).call('GET', '/me/activity', having)
    expect([later.status, ids(((await later.json()) as Page).items)[0]]).toEqual([200, 's3'])
  })
  test('shares one read between concurrent requests, and starts a new one for later requests', async () => {
    let begun: string[] = []
    const paid = Promise.withResolvers<void>()
    const slow = async () => {
      begun = [...begun, `p${begun.length + 1}`]
      const seen = begun.map((id) => entryAt(9, id))
      await paid.promise
      return { ok: { items: seen, inFlight: [] } }
    }
    const fixture = await fixtureOf({ ...replies, 'payments.activity': slow })
    const ask = async () => {
      const response = await fixture.call('GET', '/me/activity', { headers })
      return ((await response.json()) as Page).items.filter(({ id }) => id.startsWith('p')).length
    }
    const early = ask()
    await waitUntil('the first reading', () => begun.length === 1)
    const late = [ask(), ask(), ask()]
    await new Promise((resolve) => setImmediate(resolve))
    paid.resolve()
    expect([await early, ...(await Promise.all(late))]).toEqual([1, 2, 2, 2])
  })
  test.each(Object.keys(replies))('answers 503, not a partial list, when %s does not respond', async (subject) => {
    const fixture = await fixtureOf({ ...replies, [subject]: refusing('chain_unavailable') })
    const response = await fixture.call('GET', '/me/activity', { headers })
    expect(response.status).toBe(503)
  })
  const wrongLimit = 'limit must be a number from 1 to 100'
  const wrongCursor = 'cursor is invalid: use nextCursor of the previous page'
  const cursorOf = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  test.each([
    ...['0', '101', '-1', '1.0', '1e1', '', 'ten', '%201'].map((limit) => [`?limit=${limit}`, wrongLimit]),
    ['?cursor=', wrongCursor],
    ['?cursor=%00', wrongCursor],
    ['?cursor=bm90IGpzb24', wrongCursor],
    [`?cursor=${cursorOf({})}`, wrongCursor],
    [`?cursor=${cursorOf(['2026-11-21', 'a'])}`, wrongCursor],
    [`?cursor=${cursorOf(['2026-99-21T06:09:00.000Z', 'a'])}`, wrongCursor],
    [`?cursor=${cursorOf(['2026-02-31T06:09:00.000Z', 'a'])}`, wrongCursor],
    [`?cursor=${cursorOf(['+010000-01-01T00:00:00.000Z', 'a'])}`, wrongCursor],
    [`?cursor=${cursorOf(['2026-11-21T06:09:00.000Z', 'a'.repeat(201)])}`, wrongCursor],
    [`?cursor=${cursorOf(['2026-11-21T06:09:00.000Z', 'a\0'])}`, wrongCursor],
    [`?cursor=${'A'.repeat(401)}`, wrongCursor],
  ])('refuses %s', async (query, message) => {
    const { fixture, response } = await get(query)
    expect([response.status, await errorOf(response)]).toEqual([400, message!])
    expect(fixture.asked).toEqual([])
  })
})

describe('POST /me/verification', () => {
  const made: string[] = []
  const provider = (url: () => Promise<string>) => ({
    ...contextOf().provider,
    createLink: async (wallet: string) => {
      made.push(wallet)
      return { url: await url(), ref: null }
    },
  })
  const one = provider(async () => `https://id.example/${made.length}`)
  const over = (standing: { isVerified?: boolean; linksToday?: number }, more: Partial<Context> = {}) => ({
    provider: one,
    verification: {
      standing: async () => ({ isVerified: false, linksToday: 0, ...standing }),
      recordLink: async () => {},
    },
    ...more,
  })
  const asked = async (fixture: Fixture, who = ana, from = '10.0.0.1') => {
    const headers = { authorization: await headerOf(who) }
    const response = await fixture.call('POST', '/me/verification', { headers, from })
    return { response, body: (await response.json()) as Record<string, unknown> }
  }
  test('returns a link without a verdict, and none for a verified user', async () => {
    made.length = 0
    const open = await asked(await fixtureOf({}, over({})))
    expect(open.body).toEqual({ verified: false, url: 'https://id.example/1' })
    const verified = await asked(await fixtureOf({}, over({ isVerified: true })))
    expect(verified.body).toEqual({ verified: true, url: null })
  })
  test('security: returns the same recent link, also to concurrent requests, and a new one later', async () => {
    made.length = 0
    const time = { ms: nowMs }
    const fixture = await fixtureOf({}, over({}, { clock: () => time.ms }))
    const many = await Promise.all(Array.from({ length: 20 }, () => asked(fixture)))
    expect(new Set(many.map(({ body }) => body.url))).toEqual(new Set(['https://id.example/1']))
    expect((await asked(fixture, budi)).body.url).toBe('https://id.example/2')
    expect(made).toEqual([walletOf(ana), walletOf(budi)])
    time.ms += one.linkFreshMs + 1
    expect((await asked(fixture)).body.url).toBe('https://id.example/3')
  })
  // guard: during a pilot, only invited wallets are verified
  test('is refused to a wallet that is not invited to the pilot, which so cannot borrow', async () => {
    made.length = 0
    const piloted = { config: { ...config, pilotWallets: new Set([walletOf(budi)]) } }
    const { response, body } = await asked(await fixtureOf({}, over({}, piloted)))
    expect([response.status, response.headers.get('x-error-code')]).toEqual([403, 'not_in_pilot'])
    expect(body.error).toContain('only to invited wallets')
    expect((await asked(await fixtureOf({}, over({}, piloted)), budi)).response.status).toBe(200)
    expect((await asked(await fixtureOf({}, over({ isVerified: true }, piloted)))).body.verified).toBe(true)
    expect(made).toEqual([walletOf(budi)])
  })
  test('security: a wallet gets five new links a day', async () => {
    made.length = 0
    const { response, body } = await asked(await fixtureOf({}, over({ linksToday: 5 })))
    expect([response.status, response.headers.get('x-error-code')]).toEqual([429, 'verification_limit_reached'])
    expect(body.error).toContain('after midnight in Jakarta')
    expect(made).toEqual([])
  })
  test('security: limits the provider calls of all wallets together', async () => {
    made.length = 0
    const limited = { ...config, identityRechecksPerMinute: 24 }
    const fixture = await fixtureOf({}, over({}, { config: limited }))
    const wallets = Array.from({ length: 10 }, () => privateKeyToAccount(generatePrivateKey()))
    const answers = await Promise.all(wallets.map((wallet, at) => asked(fixture, wallet, `10.0.0.${at}`)))
    expect(made.length).toBeLessThanOrEqual(3)
    expect(answers.filter(({ response }) => response.status === 503).length).toBeGreaterThan(5)
  })
  test('security: gives the wallets of one address a quarter of these calls', async () => {
    made.length = 0
    const limited = { ...config, identityRechecksPerMinute: 240 }
    const fixture = await fixtureOf({}, over({}, { config: limited }))
    const wallets = Array.from({ length: 30 }, () => privateKeyToAccount(generatePrivateKey()))
    const answers = await Promise.all(wallets.map((wallet) => asked(fixture, wallet)))
    expect(answers.filter(({ response }) => response.status === 429)).toHaveLength(25)
    expect((await asked(fixture, ana, '10.0.0.2')).response.status).toBe(200)
  })
  test('answers 503 when the provider is down', async () => {
    const down = provider(async () => Promise.reject(new Error('refused by 10.0.0.3')))
    const { response, body } = await asked(await fixtureOf({}, { provider: down }))
    expect([response.status, body.error]).toEqual([503, 'identity verification is temporarily unavailable, try again'])
    expect(response.headers.get('retry-after')).toBe('5')
  })
  test('returns no link that was not stored', async () => {
    const noted: string[] = []
    const { standing } = over({}).verification
    const fixtureWith = (recordLink: (wallet: string) => Promise<void>) =>
      fixtureOf({}, { provider: one, verification: { standing, recordLink: recordLink } })
    await asked(await fixtureWith(async (wallet) => void noted.push(wallet)))
    expect(noted).toEqual([walletOf(ana)])
    const failing = () => Promise.reject(new Error('no row was written'))
    const { response, body } = await asked(await fixtureWith(failing))
    expect([response.status, body.error]).toEqual([500, 'something went wrong'])
  })
})

describe('GET /me/activity/:id', () => {
  const [payment, send] = [`pay_${'a'.repeat(22)}`, `snd_${'-_'.repeat(11)}`]
  const payout = '7f9c24e8-3b1a-8d52-9e0f-1c2d3e4f5a6b'
  const get = async (id: string, replies: Replies) => {
    const fixture = await fixtureOf(replies)
    const response = await fixture.call('GET', `/me/activity/${id}`, { headers })
    return { fixture, response, answer: [response.status, await response.json()] }
  }
  const absent = [404, { error: 'You have no item with this id.' }]
  const found = (id: string) => okay({ item: entryAt(9, id) })
  const none = okay({ item: null })

  test.each([
    [payment, 'payments.item'],
    [payout, 'payouts.item'],
    [send, 'chain.item'],
  ])('returns the item %s as %s has it, asked only for this wallet', async (id, subject) => {
    const { fixture, response, answer } = await get(id, { [subject]: found(id) })
    expect(answer).toEqual([200, entryAt(9, id)])
    expect(fixture.asked).toEqual([[subject, { wallet: walletOf(ana), id }]])
    const having = { ...headers, 'if-none-match': response.headers.get('etag')! }
    const again = await fixture.call('GET', `/me/activity/${id}`, { headers: having })
    expect([again.status, await again.text()]).toEqual([304, ''])
  })
  test('returns an automatic repayment, as the gateway has it, asked only for this wallet', async () => {
    const id = `op_${'a'.repeat(22)}`
    const asked: unknown[] = []
    const item = async (...of: unknown[]) => {
      asked.push(of)
      return entryAt(9, id, { kind: 'autorepay', status: 'repaid' }) as ActivityEntry
    }
    const autoRepayments = { item, page: async () => ({ items: [], inFlight: [] }) }
    const fixture = await fixtureOf({}, { autoRepayments })
    const response = await fixture.call('GET', `/me/activity/${id}`, { headers })
    expect([response.status, await response.json()]).toMatchObject([200, { id, kind: 'autorepay' }])
    expect([asked, fixture.asked]).toEqual([[[walletOf(ana), id]], []])
  })
  test('answers 404 for an item that the wallet does not have', async () => {
    const { response, answer } = await get(payment, { 'payments.item': none })
    expect(answer).toEqual(absent)
    expect(response.headers.get('x-error-code')).toBe('not_found')
  })
  test.each([
    'pay_',
    `pay_${'a'.repeat(23)}`,
    `PAY_${'a'.repeat(22)}`,
    payout.toUpperCase(),
    '__proto__',
    '%00',
    `pay_${'a'.repeat(21)}%00`,
    `${payment}%0A`,
    '%ED%A0%80',
    '%FF',
    '..%2F..',
    "'--",
    `op_${'a'.repeat(21)}`,
    'x'.repeat(8_000),
    `${payment}%2F${send}`,
    '%F0%9F%98%80',
  ])('answers %p as an unknown id, and asks no service', async (id) => {
    const { fixture, answer } = await get(id, {})
    expect([answer[0], fixture.asked]).toEqual([404, []])
  })
  test('answers 503 when its service does not respond', async () => {
    expect((await get(payment, {})).response.status).toBe(503)
  })
})
