import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { patienceMs, waitUntil } from '#infra/local/wait'
import { openSandboxFixture, type SandboxFixture } from '#test/support/sandbox'
import { personal } from './personal'

let fixture: SandboxFixture
beforeAll(async () => {
  fixture = await openSandboxFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

const wallet = `0x${'aB'.repeat(20)}`
const known = wallet.toLowerCase()
const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex')

describe('a Sumsub verdict', () => {
  test('a Sumsub verdict has its own time, later than every earlier one', async () => {
    await Promise.all(Array.from({ length: 5 }, () => fixture.control(`identity/${wallet}`, { verdict: 'reset' })))
    const told = await fixture.events('applicantReset', 5)
    const times = told.map(({ json }) => json.createdAtMs as string)
    expect(new Set(times).size).toBe(5)
    for (const time of times) expect(time).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/)
  })

  test.each([
    ['approved', true, { reviewAnswer: 'GREEN', reviewRejectType: null, rejectLabels: null }],
    ['pending', true, null],
    ['reset', null, null],
    ['deleted', null, null],
  ])(
    'the Sumsub verdict %s has null for absent fields, and a withdrawal has no environment',
    async (verdict, sandboxMode, result) => {
      const before = fixture.received.length
      await fixture.control(`identity/${wallet}`, { verdict })
      const { json } = await waitUntil('the webhook', () => fixture.received[before], patienceMs, 5)
      expect([json.sandboxMode ?? null, json.reviewResult]).toEqual([sandboxMode, result])
    },
  )

  test.each([
    [wallet, { verdict: 'perhaps' }],
    ['0x12', { verdict: 'approved' }],
    [wallet, { verdict: 'reset', provider: 'persona' }],
    [wallet, { verdict: 'approved', provider: 'veriff' }],
  ])('a Sumsub verdict for %s with %o is refused', async (about, body) => {
    expect((await fixture.control(`identity/${about}`, body)).status).toBe(400)
  })
})

describe('a hosted verification link', () => {
  const path = '/resources/sdkIntegrations/levels/-/websdkLink'
  const ask = (change: Record<string, string> = {}, level = 'basic-kyc-level') => {
    const body = JSON.stringify({ levelName: level, userId: known, ttlInSecs: 600 })
    const seconds = change.seconds ?? String(Math.floor(Date.now() / 1000))
    return fixture.ask(path, {
      method: 'POST',
      body,
      headers: {
        'x-app-token': change.token ?? 'app-token',
        'x-app-access-ts': seconds,
        'x-app-access-sig': change.signature ?? hmac('api-secret', `${seconds}POST${path}${body}`),
      },
    })
  }

  test("a hosted verification link of Sumsub opens the wallet's page, whose button decides", async () => {
    const { status, json } = await ask()
    expect(status).toBe(200)
    expect(json.url).toMatch(/\/identity\/[0-9a-f]{32}$/)
    expect(await (await fetch(json.url)).text()).toContain(known)
    const form = new URLSearchParams({ verdict: 'approved', person: 'Ratna' })
    const done = await fetch(json.url, { method: 'POST', body: form })
    expect(await done.text()).toContain('Identity approved')
    const { identities } = await fixture.book()
    expect(identities).toContainEqual(
      expect.objectContaining({
        provider: 'sumsub',
        wallet: known,
        verdict: 'approved',
        person: 'Ratna',
      }),
    )
  })

  test.each([
    ['another token', { token: 'x' }, 'basic-kyc-level', 401],
    ['an old time', { seconds: '1700000000' }, 'basic-kyc-level', 401],
    ['a wrong signature', { signature: 'ab'.repeat(32) }, 'basic-kyc-level', 401],
    ['no such level', {}, 'other', 404],
  ])('security: a hosted verification link with %s is refused', async (_, change, level, status) => {
    expect((await ask(change, level)).status).toBe(status)
  })

  test('a hosted verification link of Persona is created from an inquiry', async () => {
    const headers = { authorization: 'Bearer api-secret' }
    const body = {
      data: { attributes: { 'inquiry-template-id': 'itmpl_1', 'reference-id': known } },
    }
    const inquiry = await fixture.post('/api/v1/inquiries', body, headers)
    expect(inquiry).toMatchObject({ status: 201, json: { data: { type: 'inquiry' } } })
    const linkPath = `/api/v1/inquiries/${inquiry.json.data.id}/generate-one-time-link`
    const link = await fixture.post(linkPath, {}, headers)
    expect((await fetch(link.json.meta['one-time-link'])).status).toBe(200)
    expect((await fixture.post('/api/v1/inquiries', body)).status).toBe(401)
  })
})

const newWallet = () => `0x${crypto.getRandomValues(new Uint8Array(20)).toHex()}`
const failing = { api: { errorRate: 1 } }

describe('the Sumsub API, asked about an applicant,', () => {
  const ask = (wallet: string, signature?: string) => {
    const path = `/resources/applicants/-;externalUserId=${wallet}/one`
    const seconds = String(Math.floor(Date.now() / 1000))
    return fixture.ask(path, {
      headers: {
        'x-app-token': 'app-token',
        'x-app-access-ts': seconds,
        'x-app-access-sig': signature ?? hmac('api-secret', `${seconds}GET${path}`),
      },
    })
  }
  test.each([
    ['approved', { reviewStatus: 'completed', reviewResult: { reviewAnswer: 'GREEN' } }],
    [
      'rejected',
      {
        reviewStatus: 'completed',
        reviewResult: { reviewAnswer: 'RED', reviewRejectType: 'FINAL' },
      },
    ],
    ['reset', { reviewStatus: 'init' }],
    ['pending', { reviewStatus: 'pending' }],
    ['awaiting_service', { reviewStatus: 'awaitingService', reviewResult: { reviewAnswer: 'GREEN' } }],
  ])('the Sumsub API reports a review that was %s, with its time and the applicant', async (verdict, review) => {
    const about = newWallet()
    await fixture.control(`identity/${about}`, { verdict })
    const { status, json } = await ask(about)
    expect(status).toBe(200)
    expect(json).toMatchObject({ externalUserId: about, info: { lastName: personal.lastName } })
    expect(json.review).toMatchObject({ levelName: 'basic-kyc-level', ...review })
    expect(json.review.createDate).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+0000$/)
    expect('reviewDate' in json.review).toBe(review.reviewStatus === 'completed')
    expect('deleted' in json).toBe(false)
  })
  test('the Sumsub API reports a deactivated applicant, and does not know a deleted one', async () => {
    const about = newWallet()
    expect((await ask(about)).status).toBe(404)
    await fixture.control(`identity/${about}`, { verdict: 'deactivated' })
    expect((await ask(about)).json).toMatchObject({ deleted: true })
    await fixture.control(`identity/${about}`, { verdict: 'deleted' })
    const { status, json } = await ask(about)
    expect([status, json.code]).toEqual([404, 404])
  })
  test('the Sumsub API reports the earlier review, with its time, of an applicant who is activated again', async () => {
    const about = newWallet()
    await fixture.control(`identity/${about}`, { verdict: 'approved' })
    const before = (await ask(about)).json.review
    for (const verdict of ['deactivated', 'deactivated', 'activated'])
      await fixture.control(`identity/${about}`, { verdict })
    const { json } = await ask(about)
    expect('deleted' in json).toBe(false)
    expect(json.review).toMatchObject({ reviewResult: before.reviewResult, reviewDate: before.reviewDate })
  })
  test('the Sumsub API reports the newest verdict of this environment, whatever is delivered later', async () => {
    const about = newWallet()
    await fixture.control(`identity/${about}`, { verdict: 'approved' })
    await fixture.control(`identity/${about}`, { verdict: 'rejected', ageMs: 60_000 })
    await fixture.control(`identity/${about}`, { verdict: 'rejected', sandboxMode: false })
    expect((await ask(about)).json.review.reviewResult).toEqual({ reviewAnswer: 'GREEN' })
    await fixture.control(`identity/${about}`, { verdict: 'approved', levelName: 'other' })
    expect((await ask(about)).json.review.levelName).toBe('other')
  })
  test('security: the Sumsub API rejects a wrong signature, and fails when a fault is set', async () => {
    expect((await ask(newWallet(), 'ab'.repeat(32))).status).toBe(401)
    await fixture.control('faults', failing)
    expect((await ask(newWallet())).status).toBe(500)
    await fixture.control('faults', {})
  })
})

describe('the Persona API', () => {
  const ask = (query: Record<string, string>, key = 'api-secret') =>
    fixture.ask(`/api/v1/inquiries?${new URLSearchParams(query)}`, {
      headers: { authorization: `Bearer ${key}` },
    })
  const decide = (wallet: string, verdict: string) =>
    fixture.control(`identity/${wallet}`, { verdict, provider: 'persona', levelName: 'itmpl_1' })

  test('the Persona API lists the inquiries of a reference with the requested statuses', async () => {
    const about = newWallet()
    const query = { 'filter[reference-id]': about }
    expect((await ask(query)).json).toEqual({ data: [], links: { prev: null, next: null } })
    await decide(about, 'retry')
    const decided = { ...query, 'filter[status]': 'approved,declined' }
    expect((await ask(query)).json.data[0].attributes.status).toBe('needs_review')
    expect((await ask(decided)).json.data).toEqual([])
    await decide(about, 'approved')
    const [inquiry, ...rest] = (await ask(decided)).json.data
    expect(rest).toEqual([])
    expect(inquiry).toMatchObject({
      type: 'inquiry',
      attributes: { status: 'approved', 'reference-id': about, 'name-last': personal.lastName },
      relationships: { 'inquiry-template': { data: { id: 'itmpl_1' } } },
    })
    expect(Date.parse(inquiry.attributes['decisioned-at'])).toBeGreaterThan(Date.now() - 10_000)
  })
  test('the Persona API returns pages, newest first', async () => {
    const wallets = [newWallet(), newWallet(), newWallet()]
    for (const about of wallets) await decide(about, 'approved')
    const first = (await ask({ 'page[size]': '2' })).json
    const after = first.data[1].id as string
    const second = (await ask({ 'page[size]': '2', 'page[after]': after })).json
    const seen = [...first.data, ...second.data].map((one) => one.attributes['reference-id'])
    expect(seen.slice(0, 3)).toEqual(wallets.reverse())
    expect(first.links.next).toContain(after)
  })
  test('the Persona API keeps the filters of the request in the link to the next page', async () => {
    const wallets = [newWallet(), newWallet(), newWallet()]
    for (const about of wallets.slice(1)) await decide(about, 'approved')
    await decide(wallets[0]!, 'retry')
    const query = { 'filter[status]': 'approved', 'page[size]': '1' }
    const first = (await ask(query)).json
    const headers = { authorization: 'Bearer api-secret' }
    const second = (await fixture.ask(first.links.next, { headers })).json
    const seen = [...first.data, ...second.data].map((one) => one.attributes['reference-id'])
    expect(seen).toEqual([wallets[2], wallets[1]])
  })
  test('security: the Persona API rejects a wrong key, and fails when a fault is set', async () => {
    expect((await ask({}, 'other')).status).toBe(401)
    await fixture.control('faults', failing)
    expect((await ask({})).status).toBe(500)
    await fixture.control('faults', {})
  })
})
