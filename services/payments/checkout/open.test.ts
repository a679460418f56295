import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { lockNamed } from '#platform/db/lock'
import { QuoteTake } from '#shared/messages/pricing'
import { lockWallet } from '../payment.store'
import { payments } from '../payment.table'
import { newWallet, openFixture, wallet } from '../test-support'
import { lockAllTopups, sumAllTopups } from '../treasury/sums.store'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(async () => {
  Object.assign(fixture.chain, { verified: true, drawn: '0' })
  await fixture.control('faults', {})
})

const ask = (quoteId: string, more: object = {}) => ({
  wallet,
  amount: '50000',
  method: 'qr',
  quoteId,
  ...more,
})
const sessions = async (): Promise<Record<string, unknown>[]> => (await fixture.control('book')).sessions!

describe('a request for a top-up', () => {
  test('returns a checkout, the amount charged and the AUSD to credit, rounded down', async () => {
    const answer = await fixture.topup(ask(fixture.quote()))
    expect(answer.ok).toMatchObject({ fiat: '50000', ausd: '3076923' })
    const { paymentId, checkoutUrl } = answer.ok!
    expect(checkoutUrl).toStartWith('http')
    const row = await fixture.row(paymentId)
    expect(row).toMatchObject({ state: 'awaiting_payment', account: 'ID', checkoutUrl })
    expect(row!.expiresAt!.getTime()).toBeGreaterThan(Date.now() + 14 * 60_000)
  })

  // guard: an unverified user opens no top-up
  test.each([
    ['an unverified wallet', 'not_verified', {}, () => Object.assign(fixture.chain, { verified: false })],
    ['an unknown quote', 'quote_unknown', { quoteId: crypto.randomUUID() }, () => {}],
    ['Rp 9,999', 'amount_below_minimum_idr', { amount: '9999' }, () => {}],
    ['nothing', 'amount_below_minimum_idr', { amount: '0' }, () => {}],
    ['more than any channel takes', 'amount_above_maximum', { amount: '50000000001' }, () => {}],
    ['more than a card takes', 'amount_above_maximum', { amount: '200000001', method: 'card' }, () => {}],
  ] as const)('of %s is refused with %s, writes nothing and leaves the quote', async (_, code, more, world) => {
    const quoteId = fixture.quote()
    const before = await fixture.rows()
    world()
    expect(await fixture.topup(ask(quoteId, more))).toEqual({ refused: code })
    expect((await fixture.rows()).length).toBe(before.length)
    expect(fixture.quotes.get(quoteId)!.requestFingerprint).toBeUndefined()
  })

  test('of RM 4.99 is refused, of RM 5.00 is not', async () => {
    const quoteId = fixture.quote('USD/MYR', '421')
    expect(await fixture.topup(ask(quoteId, { amount: '499' }))).toEqual({
      refused: 'amount_below_minimum_myr',
    })
    expect((await fixture.topup(ask(quoteId, { amount: '500' }))).ok).toMatchObject({
      ausd: '1187648',
    })
  })

  test('by card limits the checkout to cards; any other method shows every channel', async () => {
    const card = await fixture.topup(ask(fixture.quote(), { method: 'card' }))
    const bank = await fixture.topup(ask(fixture.quote(), { method: 'bank' }))
    const channelsOf = async (id: string) =>
      (await sessions()).find((session) => session.reference_id === id)?.allowed_payment_channels
    const all = (await channelsOf(bank.ok!.paymentId)) ?? []
    expect(await channelsOf(card.ok!.paymentId)).toEqual(['CARDS'])
    expect(all).toEqual([])
  })
})

// guard: a payment takes its quote before its checkout is opened
test.each(['topup', 'settlement'] as const)('a %s takes its quote, which no cash-out can take', async (kind) => {
  const quoteId = fixture.quote()
  const asked = { ...ask(quoteId), wallet: newWallet() }
  fixture.chain.drawn = '3000000'
  expect(await fixture[kind](asked)).toHaveProperty('ok')
  expect(fixture.quotes.get(quoteId)!.requestFingerprint).toBeDefined()
})

describe('a repeated request for a top-up', () => {
  test('gets the first response, also with the address in other case and after the quote expired', async () => {
    const quoteId = fixture.quote()
    const first = await fixture.topup(ask(quoteId))
    fixture.quotes.delete(quoteId)
    const again = ask(quoteId.toUpperCase(), { wallet: wallet.replace('9b2ef', '9B2EF') })
    expect(await fixture.topup(again)).toEqual(first)
  })

  // guard: a quote that made a payment serves no other request
  test.each([
    ['another amount', { amount: '60000' }],
    ['another method', { method: 'bank' }],
    ['another wallet', { wallet: `0x${'1'.repeat(40)}` }],
  ])('security: is refused with %s', async (_, more) => {
    const quoteId = fixture.quote()
    await fixture.topup(ask(quoteId))
    expect(await fixture.topup(ask(quoteId, more))).toEqual({ refused: 'quote_used' })
    expect(await fixture.settlement({ wallet, quoteId })).toEqual({ refused: 'quote_used' })
  })

  test('gets the first response while other top-ups hold the locks of all limits', async () => {
    const asked = ask(fixture.quote())
    const first = await fixture.topup(asked)
    const [held, isAnswered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const holding = fixture.database.transaction(async (tx) => {
      lockWallet(tx, wallet)
      lockAllTopups(tx)
      lockNamed(tx, 'cover of top-ups')
      await sumAllTopups(tx, new Date(fixture.context.clock()))
      held.resolve()
      await isAnswered.promise
    })
    await held.promise
    const again = await fixture.topup(asked).finally(isAnswered.resolve)
    await holding
    expect(again).toEqual(first)
  })

  test('gets the first response while the chain cannot be read', async () => {
    const asked = ask(fixture.quote())
    const first = await fixture.topup(asked)
    fixture.chain.isDown = true
    const again = await fixture.topup(asked)
    fixture.chain.isDown = false
    expect(again).toEqual(first)
  })

  test('creates one payment and one checkout when it is sent ten times concurrently', async () => {
    const quoteId = fixture.quote()
    const answers = await Promise.all(Array.from({ length: 10 }, () => fixture.topup(ask(quoteId))))
    const { paymentId } = answers[0]!.ok!
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    const opened = (await sessions()).filter((session) => session.reference_id === paymentId)
    expect(opened.length).toBe(1)
  })
})

describe('security: a quote whose response was lost', () => {
  const taken = async (kind: 'topup' | 'settlement') => {
    fixture.chain.drawn = '3000000'
    const quoteId = fixture.quote()
    const asked = { ...ask(quoteId), wallet: newWallet() }
    const quote = fixture.quotes.get(quoteId)!
    quote.lost = true
    expect(await fixture[kind](asked)).toEqual({ refused: 'rate_unavailable' })
    quote.lost = undefined
    quote.over = true
    return { asked, again: () => fixture[kind](asked) }
  }

  test.each(['topup', 'settlement'] as const)('still opens its %s for a while, and not later', async (kind) => {
    const soon = await taken(kind)
    expect(await soon.again()).toHaveProperty('ok')
    const late = await taken(kind)
    fixture.time.aheadMs += 601_000
    expect(await late.again()).toEqual({ refused: 'quote_expired' })
    fixture.time.aheadMs -= 601_000
  })

  test('that was used elsewhere is refused, and its row promises nothing', async () => {
    const quoteId = fixture.quote()
    const quote = fixture.quotes.get(quoteId)!
    const asked = { ...ask(quoteId), wallet: newWallet() }
    quote.breaks = true
    expect(await fixture.topup(asked)).toEqual({ refused: 'rate_unavailable' })
    expect((await fixture.rows()).find((row) => row.quoteId === quoteId)!.state).toBe('opening')
    quote.breaks = undefined
    quote.requestFingerprint = 'a cash-out'
    expect(await fixture.topup(asked)).toEqual({ refused: 'quote_used' })
    expect((await fixture.rows()).find((row) => row.quoteId === quoteId)!.state).toBe('expired')
  })
})

test('a request whose row was lost with Postgres shows no checkout, and its retry opens another', async () => {
  const quoteId = fixture.quote()
  const { ask: asking } = fixture.context
  const losing: typeof asking = async (question, ...more) => {
    // The role of the service deletes no rows.
    const lost = { id: 'lost', wallet: newWallet(), quoteId: crypto.randomUUID() }
    if (question.subject === QuoteTake.subject)
      await fixture.database.run((db) => db.update(payments).set(lost).where(eq(payments.quoteId, quoteId)))
    return asking(question, ...more)
  }
  Object.assign(fixture.context, { ask: losing })
  const answer = await fixture.topup(ask(quoteId))
  Object.assign(fixture.context, { ask: asking })
  expect(answer).toEqual({ refused: 'provider_unavailable' })
  const { paymentId } = (await fixture.topup(ask(quoteId))).ok!
  expect(await fixture.row(paymentId)).toMatchObject({ state: 'awaiting_payment', quoteId })
  const opened = (await sessions()).filter(({ reference_id }) => reference_id === paymentId)
  expect(opened.map(({ status }) => status).sort()).toEqual(['ACTIVE', 'CANCELED'])
})

describe('security: the limits of a user', () => {
  // guard: a wallet's top-ups are counted under its lock
  // together with: top-ups are promised one at a time across all instances
  test.each([
    ['open checkouts', 10n ** 11n, 'topups_open_too_many'],
    ['the number of a day', 10n ** 11n, 'topups_day_too_many'],
    ['a day', 9_230_769n, 'day_limit_reached'],
  ] as const)(
    'hold for %s with twenty concurrent top-ups, and the others leave their quotes unused',
    async (_, dayMicroMax, refused) => {
      const openMax = refused === 'topups_open_too_many' ? 3 : 100
      const dayCountMax = refused === 'topups_day_too_many' ? 3 : 100
      const limits = { openMax, openMicroMax: 10n ** 11n, dayCountMax, dayMicroMax }
      const create = fixture.topupWithin(limits)
      const person = newWallet()
      const asked = Array.from({ length: 20 }, () => ask(fixture.quote(), { wallet: person }))
      const answers = await Promise.all(asked.map((one) => create(one)))
      expect(answers.filter(({ ok }) => ok)).toHaveLength(3)
      for (const [at, given] of answers.entries()) {
        if (given.ok) continue
        expect(given).toEqual({ refused })
        expect(fixture.quotes.get(asked[at]!.quoteId)!.requestFingerprint).toBeUndefined()
      }
    },
  )
})

test('a checkout that expires unpaid leaves room for another top-up of the day, a refunded payment does not', async () => {
  const limits = { openMax: 100, openMicroMax: 10n ** 11n, dayCountMax: 1, dayMicroMax: 10n ** 11n }
  const create = fixture.topupWithin(limits)
  const person = newWallet()
  const open = () => create(ask(fixture.quote(), { wallet: person }))
  const tooMany = { refused: 'topups_day_too_many' } as const
  const unpaid = (await open()).ok!.paymentId
  expect(await open()).toEqual(tooMany)
  await fixture.control(`sessions/${unpaid}/expire`)
  await fixture.becomes(unpaid, { state: 'expired' })
  const paid = (await open()).ok!.paymentId
  await fixture.control(`sessions/${paid}/pay`, { channel_code: 'CARDS' })
  await fixture.becomes(paid, { state: 'paid' })
  expect(await open()).toEqual(tooMany)
  await fixture.control(`payments/${paid}/refund`)
  await fixture.becomes(paid, { refundedMinor: 50_000n })
  expect(await open()).toEqual(tooMany)
  expect(await create(ask(fixture.quote(), { wallet: newWallet() }))).toHaveProperty('ok')
})

describe('a wallet that has not accepted the current terms', () => {
  const termsMissing = true

  test('opens no top-up, and its quote stays unused', async () => {
    const asked = ask(fixture.quote(), { wallet: newWallet() })
    expect(await fixture.topup({ ...asked, termsMissing })).toEqual({ refused: 'terms_not_accepted' })
    expect(fixture.quotes.get(asked.quoteId)!.requestFingerprint).toBeUndefined()
    expect(await fixture.topup(asked)).toHaveProperty('ok')
  })

  test('gets the first response to a top-up that it opened before', async () => {
    const asked = ask(fixture.quote(), { wallet: newWallet() })
    const opened = await fixture.topup(asked)
    expect(opened).toHaveProperty('ok')
    expect(await fixture.topup({ ...asked, termsMissing })).toEqual(opened)
    expect(await fixture.topup({ ...asked, amount: '60000', termsMissing })).toEqual({ refused: 'quote_used' })
  })
})

describe('during a pilot', () => {
  const invited = newWallet()
  const start = (more: object) => {
    const before = { pilot: fixture.context.pilot, allDayMicroMax: fixture.context.allDayMicroMax }
    Object.assign(fixture.context, more)
    return () => Object.assign(fixture.context, before)
  }
  const topup = (person: string, more: object = {}) => ask(fixture.quote(), { wallet: person, ...more })

  // guard: during a pilot, only invited wallets open top-ups
  test('only an invited wallet opens a top-up; another is refused, and its quote stays unused', async () => {
    const before = topup(newWallet())
    const opened = await fixture.topup(before)
    const end = start({ pilot: new Set([invited]) })
    expect(await fixture.topup(topup(invited))).toHaveProperty('ok')
    const refused = topup(newWallet())
    expect(await fixture.topup(refused)).toEqual({ refused: 'not_in_pilot' })
    expect(fixture.quotes.get(refused.quoteId)!.requestFingerprint).toBeUndefined()
    // The response to a request of before is repeated.
    expect(await fixture.topup(before)).toEqual(opened)
    end()
    expect(await fixture.topup(refused)).toHaveProperty('ok')
  })

  test('any wallet settles its debt', async () => {
    const end = start({ pilot: new Set([invited]) })
    fixture.chain.drawn = '3000000'
    const settlement = { wallet: newWallet(), quoteId: fixture.quote() }
    expect(await fixture.settlement(settlement)).toHaveProperty('ok')
    end()
  })

  // guard: the top-ups of all wallets of a day have a limit
  // guard: the top-ups of all wallets of a day are counted one after another
  // together with: top-ups are promised one at a time across all instances
  test('all wallets together pay in no more than the limit of a day, also at the same time', async () => {
    const sum = await fixture.database.read((db) => sumAllTopups(db, new Date(fixture.context.clock())))
    const end = start({ allDayMicroMax: sum + 3n * 3_076_923n })
    const asked = Array.from({ length: 8 }, () => topup(newWallet()))
    const answers = await Promise.all(asked.map((one) => fixture.topup(one)))
    expect(answers.filter(({ ok }) => ok)).toHaveLength(3)
    expect(answers.filter(({ refused }) => refused === 'day_limit_of_all_reached')).toHaveLength(5)
    // A debt that is due or older than a day can always be paid.
    fixture.chain.drawn = '3000000'
    const settlement = { wallet: newWallet(), quoteId: fixture.quote() }
    expect(await fixture.settlement(settlement)).toHaveProperty('ok')
    end()
    expect(await fixture.topup(asked[answers.findIndex(({ refused }) => refused)]!)).toHaveProperty('ok')
  })

  test('a top-up that ended unpaid leaves room for others, and counts again if its money arrives', async () => {
    const sum = () => fixture.database.read((db) => sumAllTopups(db, new Date(fixture.context.clock())))
    const before = await sum()
    const { paymentId } = (await fixture.topup(topup(newWallet()))).ok!
    expect(await sum()).toBe(before + 3_076_923n)
    const change = (to: object) =>
      fixture.database.run((db) => db.update(payments).set(to).where(eq(payments.id, paymentId)))
    await change({ state: 'expired' })
    expect(await sum()).toBe(before)
    await change({ state: 'paid', providerPaymentId: `py-${paymentId}`, paidAt: new Date() })
    expect(await sum()).toBe(before + 3_076_923n)
  })

  test('a top-up of yesterday does not count for the limit of today', async () => {
    const { paymentId } = (await fixture.topup(topup(newWallet()))).ok!
    const sum = () => fixture.database.read((db) => sumAllTopups(db, new Date(fixture.context.clock())))
    const before = await sum()
    const yesterday = new Date(fixture.context.clock() - 86_400_000)
    await fixture.database.run((db) =>
      db.update(payments).set({ topupAt: yesterday }).where(eq(payments.id, paymentId)),
    )
    expect(await sum()).toBe(before - 3_076_923n)
  })
})

describe('while an operator has paused top-ups', () => {
  const asked = () => ({
    wallet: newWallet(),
    amount: '50000',
    method: 'qr',
    quoteId: fixture.quote(),
  })

  test('no top-up is opened, its quote stays unused, and the refusal states the start of the pause', async () => {
    const before = asked()
    const { paymentId } = (await fixture.topup(before)).ok!
    const [first, second] = await Promise.all([fixture.pause('paused'), fixture.pause('paused', 'dewi')])
    const words = [first.ok!.done!, second.ok!.done!]
    expect(words.filter((one) => !one.includes(' already '))).toHaveLength(1)
    expect(words.filter((one) => one.includes(' already '))).toHaveLength(1)
    const refused = asked()
    const since = expect.stringMatching(/^20[0-9-]+T[0-9:]+Z$/)
    expect(await fixture.topup(refused)).toEqual({ refused: 'topups_paused', since })
    expect(fixture.quotes.get(refused.quoteId)?.requestFingerprint).toBeUndefined()
    // A payment that was opened before the pause is not affected: its retry is answered, and its money counts.
    expect((await fixture.topup(before)).ok!.paymentId).toBe(paymentId)
    await fixture.control(`sessions/${paymentId}/pay`, { channel_code: 'QRIS' })
    await fixture.becomes(paymentId, { state: 'paid' })
    fixture.chain.drawn = '3000000'
    const settlement = { wallet: newWallet(), quoteId: fixture.quote() }
    expect(await fixture.settlement(settlement)).toHaveProperty('ok')
    expect((await fixture.pause('running')).ok!.done).toMatch(/^topups running since \S+$/)
    expect((await fixture.pause('running')).ok!.done).toContain(', by sari: ticket 7')
    expect(await fixture.topup(refused)).toHaveProperty('ok')
  })

  test('security: a delayed old command neither ends a newer pause nor begins one', async () => {
    const revision = await fixture.pauseRevision()
    await fixture.pause('paused')
    await fixture.pause('running', 'sari', revision + 1)
    expect((await fixture.pause('paused', 'sari', revision)).ok!.refused).toContain('Look again')
    expect(await fixture.topup(asked())).toHaveProperty('ok')
    await fixture.pause('paused')
    expect((await fixture.pause('running', 'sari', revision + 1)).ok!.refused).toContain('topups paused since')
    expect((await fixture.topup(asked())).refused).toBe('topups_paused')
    await fixture.pause('running')
  })
})

test('a pause of the top-ups of one country leaves those of the other open, and ends apart from a pause of all', async () => {
  const asked = (pair: 'USD/IDR' | 'USD/MYR') => {
    const quoteId = pair === 'USD/MYR' ? fixture.quote(pair, '421') : fixture.quote()
    return { wallet: newWallet(), amount: '50000', method: 'qr', quoteId }
  }
  const refusedIn = async () => [
    (await fixture.topup(asked('USD/IDR'))).refused,
    (await fixture.topup(asked('USD/MYR'))).refused,
  ]
  const pauseIn = (to: 'paused' | 'running', revision: number) => fixture.pause(to, 'sari', revision, 'MY')
  expect((await pauseIn('paused', 0)).ok!.done).toMatch(/^topups-my paused since /)
  expect(await refusedIn()).toEqual([undefined, 'topups_paused'])
  await fixture.pause('paused')
  expect(await refusedIn()).toEqual(['topups_paused', 'topups_paused'])
  await fixture.pause('running')
  expect(await refusedIn()).toEqual([undefined, 'topups_paused'])
  expect((await pauseIn('running', 1)).ok!.done).toMatch(/^topups-my running since /)
  expect(await refusedIn()).toEqual([undefined, undefined])
})

describe('an unreliable provider', () => {
  test.each([
    ['answers 500', { errorRate: 1 }],
    ['opens the checkout and answers 500', { errorAfterAccept: 1 }],
    ['opens the checkout and falls silent', { timeoutAfterAccept: 1 }],
  ])('%s: 503, and a retry works later with the same quote', async (_, api) => {
    const quoteId = fixture.quote()
    await fixture.control('faults', { api })
    expect(await fixture.topup(ask(quoteId))).toEqual({ refused: 'provider_unavailable' })
    await fixture.control('faults', {})
    fixture.quotes.get(quoteId)!.over = true
    const answer = await fixture.topup(ask(quoteId))
    expect(answer.ok).toMatchObject({ fiat: '50000' })
  })

  test('that fails too long does not keep the rate, and no checkout is shown', async () => {
    const quoteId = fixture.quote()
    await fixture.control('faults', { api: { errorRate: 1 } })
    await fixture.topup(ask(quoteId))
    await fixture.control('faults', {})
    fixture.time.aheadMs += 601_000
    expect(await fixture.topup(ask(quoteId))).toEqual({ refused: 'quote_expired' })
    fixture.time.aheadMs -= 601_000
  })
})

describe('a request for a settlement', () => {
  test('charges the whole debt, rounded up', async () => {
    fixture.chain.drawn = '1000001'
    const answer = await fixture.settlement({ wallet, quoteId: fixture.quote() })
    expect(answer.ok).toMatchObject({ fiat: '16251', ausd: '1000001' })
  })

  test('repeated gets its first response although the debt has changed since', async () => {
    fixture.chain.drawn = '2000000'
    const quoteId = fixture.quote()
    const first = await fixture.settlement({ wallet, quoteId })
    fixture.chain.drawn = '0'
    expect(await fixture.settlement({ wallet, quoteId })).toEqual(first)
  })

  test.each([
    ['no debt', 'USD/IDR', '0', 'nothing_owed'],
    ['a debt of 99 sen', 'USD/MYR', '235154', 'debt_too_small'],
    ['more than any channel takes', 'USD/MYR', '300000000000', 'amount_above_maximum'],
  ])('of %s in %s is refused', async (_, pair, drawn, code) => {
    fixture.chain.drawn = drawn
    const quoteId = fixture.quote(pair, pair === 'USD/MYR' ? '421' : '16250')
    expect(await fixture.settlement({ wallet, quoteId })).toEqual({ refused: code })
  })

  test('of 1 micro AUSD costs one rupiah, which a virtual account takes', async () => {
    fixture.chain.drawn = '1'
    const answer = await fixture.settlement({ wallet, quoteId: fixture.quote() })
    expect(answer.ok).toMatchObject({ fiat: '1', ausd: '1' })
  })
})
