import { describe, expect, test } from 'bun:test'
import { accountTexts } from '#shared/language/account'
import type { Language } from '#shared/language/language'
import { paymentTexts } from '#shared/language/payments'
import { refusalTexts } from '#shared/language/refusals'
import { requestTexts } from '#shared/language/requests'
import type { RefusalCode } from '#shared/refusals'
import { errorText, withSupport } from '../http/support'
import { account, entryAt, goodBodies } from '../test-support/bodies'
import { config, errorOf, fixtureOf, okay, type Replies, refusing } from '../test-support/fixture'
import { ana, headerOf, walletOf } from '../test-support/wallets'

const authorization = await headerOf(ana)
const others = ['id', 'ms'] as const
const asking = (language: string, more: object = {}) => ({
  headers: { authorization, 'accept-language': language, ...more },
})
const id = `pay_${'x'.repeat(22)}`
const texts = [{ code: 'payment.reason.refunded_after_credit' }, { code: 'payment.owed', ausd: '1538462' }]
const item = { ...entryAt(1, id), texts }
const activity = okay({ items: [item], inFlight: [item] })
const none = okay({ items: [], inFlight: [] })
const replies: Replies = {
  'chain.account': okay({ wallet: walletOf(ana), ...account }),
  'payments.item': okay({ item }),
  'payments.checkout.cancel': okay({ item }),
  'payments.activity': activity,
  'payouts.activity': none,
  'chain.activity': none,
}
const fixture = await fixtureOf(replies)

const lapsed = paymentTexts['payment.reason.refunded_after_credit']
const owed = {
  en: `${lapsed.en} You owe 1.538462 AUSD for`,
  id: `${lapsed.id} Pembayaran ini dibatalkan, jadi ada 1,538462 AUSD yang`,
  ms: `${lapsed.ms} Anda perlu membayar 1.538462 AUSD untuk`,
} as const

describe.each(others)('in the language %s', (language) => {
  test.each<[string, string, string, RefusalCode]>([
    ['pricing', '/quote', 'pricing.quote.create', 'rate_unavailable'],
    ['payments', '/topups', 'payments.topup.create', 'amount_below_minimum_myr'],
    ['payments', '/settlements', 'payments.settlement.create', 'nothing_owed'],
    ['payouts', '/cashouts', 'payouts.cashout.create', 'payout_below_minimum'],
    ['the relayer', '/sends', 'chain.send.create', 'gas_budget_spent'],
  ])('a refusal of %s is shown: POST %s', async (_, path, subject, code) => {
    const refused = await fixtureOf({ [subject]: refusing(code) })
    const body = goodBodies[path as keyof typeof goodBodies]
    const response = await refused.call('POST', path, { body, ...asking(language) })
    expect(await errorOf(response)).toBe(refusalTexts[code][language])
    expect(response.headers.get('x-error-code')).toBe(code)
    expect(response.headers.get('content-language')).toBe(language)
    expect(response.headers.get('vary')).toBe('Origin, Accept-Language')
  })

  test('a paused operation is shown with the time since when', async () => {
    const paused = { refused: 'topups_paused', since: '2026-11-21T07:00:00.000Z' }
    const refused = await fixtureOf({ 'payments.topup.create': () => paused })
    const body = goodBodies['/topups']
    const response = await refused.call('POST', '/topups', { body, ...asking(language) })
    const since = {
      id: '21 November 2026 pukul 14.00 WIB',
      ms: '21 November 2026, 15:00 waktu Malaysia',
    }
    expect(await errorOf(response)).toBe(
      `${refusalTexts.topups_paused[language]} (dihentikan sejak ${since[language]})`,
    )
  })

  const form = (code: keyof typeof requestTexts, field = '') => requestTexts[code][language].replace('{field}', field)
  const topup = goodBodies['/topups']
  test.each<[number, string, () => Promise<Response>, string]>([
    [404, 'an unknown path', async () => fixture.call('GET', '/nowhere', asking(language)), form('not_found')],
    [
      405,
      'a method that a path does not have',
      async () => fixture.call('PUT', '/me', asking(language)),
      requestTexts.method_not_allowed[language].replace('{method}', 'PUT'),
    ],
    [
      413,
      'a body that is too large',
      async () => fixture.call('POST', '/topups', { body: 'x'.repeat(70_000), ...asking(language) }),
      form('body_too_large'),
    ],
    [
      415,
      'a compressed body',
      async () =>
        fixture.call('POST', '/topups', {
          raw: '{}',
          ...asking(language, { 'content-encoding': 'gzip' }),
        }),
      form('body_encoded'),
    ],
    [
      400,
      'a field that is missing',
      async () => fixture.call('POST', '/topups', { body: { amount: '1' }, ...jsonIn(language) }),
      form('field_missing', 'method'),
    ],
    [
      400,
      'a field in another form',
      async () => fixture.call('POST', '/topups', { body: { ...topup, amount: -1 }, ...jsonIn(language) }),
      form('form.amount', 'amount'),
    ],
    [
      400,
      'a field that a settlement does not have',
      async () =>
        fixture.call('POST', '/settlements', {
          body: { ...goodBodies['/settlements'], amount: '1' },
          ...jsonIn(language),
        }),
      form('form.whole_settlement', 'amount'),
    ],
    [
      400,
      'a period of a statement in no form',
      async () => fixture.call('GET', '/me/statement?from=x', asking(language)),
      form('period_time', 'from'),
    ],
    [
      400,
      'a wallet that is no address',
      async () => fixture.call('GET', '/verify/0x', asking(language)),
      form('form.address', 'wallet'),
    ],
    [
      401,
      'a session that is missing',
      async () => fixture.call('GET', '/me', { headers: { 'accept-language': language } }),
      form('session_missing'),
    ],
    [
      404,
      'an item that does not exist',
      async () => fixture.call('GET', '/me/activity/x', asking(language)),
      form('item_not_found'),
    ],
    [
      503,
      'a service that does not respond',
      async () => fixture.call('POST', '/topups', { body: topup, ...jsonIn(language) }),
      form('busy'),
    ],
  ])('%i: %s', async (status, _, call, text) => {
    const response = await call()
    expect([response.status, await errorOf(response)]).toEqual([status, text])
    expect(response.headers.get('content-language')).toBe(language)
    expect(response.headers.get('vary')).toContain('Accept-Language')
  })

  test('an internal error, and a request above a limit, are shown', async () => {
    const limited = { config: { ...config, rateLimitSignedPerMinute: 1 } }
    const broken = await fixtureOf({ 'chain.account': () => JSON.parse('') }, limited)
    const first = await broken.call('GET', '/me', asking(language))
    expect([first.status, await errorOf(first)]).toEqual([500, requestTexts.internal[language]])
    const second = await broken.call('GET', '/me', asking(language))
    expect([second.status, await errorOf(second)]).toEqual([429, requestTexts.too_many_requests[language]])
  })

  test('GET /me has its sentences in the language', async () => {
    const response = await fixture.call('GET', '/me', asking(language))
    const { verification, held, cycle } = (await response.json()) as Shown
    expect(verification.sentence).toBe(accountTexts['verification.approved'][language])
    expect(held.map(({ sentence }) => sentence)).toEqual([
      accountTexts['held.collateral'][language],
      accountTexts['held.repayment'][language],
    ])
    const due = {
      id: '21 Desember 2026 pukul 14.00 WIB',
      ms: '21 Disember 2026, 15:00 waktu Malaysia',
    }
    expect(cycle.sentence).toContain(due[language])
    expect(response.headers.get('content-language')).toBe(language)
    expect(response.headers.get('vary')).toBe('Origin, Accept-Language')
  })

  test('a sentence that sends the user to support ends with the contact: of an item, an identity, a receipt', async () => {
    const support = { id: 'Layanan pelanggan: help@example.org', ms: 'Khidmat pelanggan: help@example.org' }[language]
    const reviewed = { ...item, nextAction: 'contact support' as const, texts: [{ code: 'payment.review' as const }] }
    const own = await fixtureOf({ 'payments.item': okay({ item: reviewed }) })
    const alone = await own.call('GET', `/me/activity/${id}`, asking(language))
    expect(((await alone.json()) as { sentence: string }).sentence).toEndWith(support)
    const plain = await fixture.call('GET', `/me/activity/${id}`, asking(language))
    expect(((await plain.json()) as { sentence: string }).sentence).not.toContain('help@')
    const receipt = await (await fixture.call('GET', `/me/activity/${id}/receipt`, asking(language))).text()
    expect(receipt).toContain('<td>help@example.org</td>')
    expect(errorText([{ code: 'wallet_in_doubt' }], { language, contact: 'help@example.org' })).toEndWith(support)
    const rejected = { nextAction: 'contact support', sentence: accountTexts['verification.rejected'][language] }
    expect<string>(withSupport(rejected, { language, contact: 'help@example.org' }).sentence).toBe(
      `${rejected.sentence} ${support}`,
    )
  })

  test('every item has its sentence in the language: in lists, alone, cancelled', async () => {
    const page = await fixture.call('GET', '/me/activity', asking(language))
    const { items, inFlight } = (await page.json()) as { items: object[]; inFlight: object[] }
    const alone = await fixture.call('GET', `/me/activity/${id}`, asking(language))
    const cancelled = await fixture.call('POST', `/topups/${id}/cancel`, asking(language))
    for (const response of [page, alone, cancelled]) expect(response.headers.get('content-language')).toBe(language)
    for (const shown of [...items, ...inFlight, await alone.json(), await cancelled.json()]) {
      expect(shown).toMatchObject({ id, sentence: expect.stringContaining(owed[language]) })
      expect(shown).not.toHaveProperty('texts')
    }
  })

  test('a receipt is in the language', async () => {
    const response = await fixture.call('GET', `/me/activity/${id}/receipt`, asking(language))
    const page = await response.text()
    const words = {
      id: ['Bukti transaksi: Top up', 'Dibuat', '21 November 2026 pukul 13.01.00 WIB', 'berhasil'],
      ms: ['Resit: Tambah nilai', 'Dibuat', '21 November 2026, 14:01:00 waktu Malaysia', 'berjaya'],
    }
    for (const text of [`<html lang="${language}">`, owed[language], ...words[language]]) expect(page).toContain(text)
    expect(response.headers.get('content-language')).toBe(language)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  })
})
type Shown = {
  verification: { sentence: string }
  held: { sentence: string }[]
  cycle: { sentence: string }
}
const jsonIn = (language: string) => asking(language, { 'content-type': 'application/json' })

test('English is the default, and any other header changes nothing else', async () => {
  const plain = await fixture.call('GET', '/me/activity', { headers: { authorization } })
  const odd = await fixture.call('GET', '/me/activity', asking(`${'de,'.repeat(2_000)};;q=9`))
  expect([odd.status, await odd.text()]).toEqual([200, await plain.clone().text()])
  const { items } = (await plain.json()) as { items: { sentence: string }[] }
  expect(items[0]!.sentence).toStartWith(owed.en)
  expect(plain.headers.get('content-language')).toBe('en')
})

test('the sentence of a service that has a newer or no code is shown as it is', async () => {
  for (const odd of [undefined, [...texts, { code: 'payment.of_tomorrow' }], [{ code: 'payment.owed' }]]) {
    const own = await fixtureOf({ 'payments.item': okay({ item: { ...item, texts: odd } }) })
    const response = await own.call('GET', `/me/activity/${id}`, asking('id'))
    expect([response.status, ((await response.json()) as { sentence: string }).sentence]).toEqual([200, item.sentence])
  }
})

describe('a response never crosses languages', () => {
  test.each(['/me', '/me/activity'])('when %s is read at the same moment', async (path) => {
    const languages = ['en', 'id', 'ms', 'id', 'en', 'ms'] as const
    const read = (language: Language) => fixture.call('GET', path, asking(language))
    const alone = Object.fromEntries(
      await Promise.all(others.map(async (one) => [one, await (await read(one)).text()] as const)),
    )
    const responses = await Promise.all(languages.map(read))
    const bodies = await Promise.all(responses.map((response) => response.text()))
    expect(new Set(bodies).size).toBe(3)
    expect([bodies[1], bodies[3], bodies[2], bodies[5]]).toEqual([alone.id, alone.id, alone.ms, alone.ms] as string[])
    expect(responses.map(({ headers }) => headers.get('content-language'))).toEqual([...languages])
  })

  test.each(['/me/activity', `/me/activity/${id}`])('by the entity tag of another one: %s', async (path) => {
    const first = await fixture.call('GET', path, asking('id'))
    const tag = { 'if-none-match': first.headers.get('etag')! }
    const same = await fixture.call('GET', path, asking('id', tag))
    expect([same.status, same.headers.get('content-language')]).toEqual([304, 'id'])
    expect(same.headers.get('vary')).toBe('Origin, Accept-Language')
    expect((await fixture.call('GET', path, asking('ms', tag))).status).toBe(200)
  })
})

test.each(others)('what programs read is the same in every language: %s', async (language) => {
  const part = okay({ opening: {}, items: [], until: '2026-11-21T07:00:00.000Z' })
  const parts = {
    'indexer.statement': part,
    'payments.statement': part,
    'payouts.statement': part,
  }
  const own = await fixtureOf({ ...replies, ...parts })
  const paths = ['/me/statement', '/me/statement?format=csv', `/verify/${walletOf(ana)}`]
  for (const path of paths) {
    const [plain, shown] = [
      await own.call('GET', path, { headers: { authorization } }),
      await own.call('GET', path, asking(language)),
    ]
    expect([shown.status, await shown.text()]).toEqual([200, await plain.text()])
    expect(shown.headers.get('content-language')).toBeNull()
    expect(shown.headers.get('vary') ?? '').not.toContain('Accept-Language')
  }
})
