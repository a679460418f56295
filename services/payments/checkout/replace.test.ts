import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { QuoteTake } from '#shared/messages/pricing'
import { waitUntil } from '#test/support/wait'
import { payments } from '../payment.table'
import { newWallet, openFixture } from '../test-support'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(async () => {
  Object.assign(fixture.chain, { verified: true, drawn: '3000000', frozen: false })
  await fixture.control('faults', {})
})

const settle = (wallet: string, quoteId = fixture.quote()) => fixture.settlement({ wallet, quoteId })
/** Settles after the debt has grown by 1 AUSD, so that an open checkout no longer charges all of it. */
const settleMore = (wallet: string, quoteId = fixture.quote()) => {
  fixture.chain.drawn = String(BigInt(fixture.chain.drawn) + 1_000_000n)
  return settle(wallet, quoteId)
}
const sessionOf = async (id: string) => {
  const { sessions } = (await fixture.control('book')) as unknown as {
    sessions: { reference_id: string; status: string }[]
  }
  return sessions.find((session) => session.reference_id === id)
}

describe('a second request for the same debt', () => {
  const second = async (change: () => ReturnType<typeof fixture.quote>) => {
    const wallet = newWallet()
    const first = (await settle(wallet)).ok!
    const quoteId = change()
    const answer = (await settle(wallet, quoteId)).ok!
    return { isSame: answer.checkoutUrl === first.checkoutUrl, quoteId }
  }

  test('gets the open checkout, and its quote stays unused', async () => {
    const { isSame, quoteId } = await second(() => fixture.quote('USD/IDR', '16400'))
    expect(isSame).toBeTrue()
    expect(fixture.quotes.get(quoteId)!.requestFingerprint).toBeUndefined()
  })

  test.each([
    ['the rate rose by more than 1 %', () => fixture.quote('USD/IDR', '16413')],
    ['the rate fell by more than 1 %', () => fixture.quote('USD/IDR', '16087')],
    ['the pair is another', () => fixture.quote('USD/MYR', '421')],
    [
      'the debt has grown',
      () => {
        fixture.chain.drawn = '3000001'
        return fixture.quote()
      },
    ],
  ])('opens another checkout if %s', async (_, change) => {
    expect((await second(change)).isSame).toBeFalse()
  })

  test('opens another checkout if less than a third of the time to pay is left', async () => {
    const waited = await second(() => {
      fixture.time.aheadMs += 601_000
      return fixture.quote()
    })
    fixture.time.aheadMs -= 601_000
    expect(waited.isSame).toBeFalse()
  })
})

describe('a second checkout for a debt that has grown', () => {
  // guard: an earlier checkout is ended at the provider before another is opened for its debt
  test('ends the first at the provider, and the first request still gets its first response', async () => {
    const wallet = newWallet()
    const quoteId = fixture.quote()
    const first = await settle(wallet, quoteId)
    const second = await settleMore(wallet)
    expect(second.ok!.paymentId).not.toBe(first.ok!.paymentId)
    expect(await sessionOf(first.ok!.paymentId)).toMatchObject({ status: 'CANCELED' })
    expect(await settle(wallet, quoteId)).toEqual(first)
    const { items, inFlight } = (await fixture.activity({ wallet, limit: 10 })).ok!
    expect(items.map(({ status }) => status)).toEqual(['awaiting_payment', 'replaced'])
    expect(inFlight.map(({ id }) => id)).toEqual([second.ok!.paymentId])
  })

  test('is not opened by a retry that is delayed until the first was answered', async () => {
    const wallet = newWallet()
    const quoteId = fixture.quote()
    const first = Promise.withResolvers()
    fixture.chain.waits = [first.promise]
    const held = settle(wallet, quoteId)
    await waitUntil('it being held up', () => fixture.chain.waits.length === 0)
    const answered = await settle(wallet, quoteId)
    fixture.chain.drawn = '0' // The debt is repaid, and the retry still gets the first response.
    first.resolve(undefined)
    expect(await held).toEqual(answered)
    expect(await sessionOf(answered.ok!.paymentId)).toMatchObject({ status: 'ACTIVE' })
  })

  test('is not opened by a retry that is delayed until the first may be paid', async () => {
    const wallet = newWallet()
    const quoteId = fixture.quote()
    const first = Promise.withResolvers()
    fixture.chain.waits = [first.promise]
    const held = settle(wallet, quoteId)
    await waitUntil('it being held up', () => fixture.chain.waits.length === 0)
    const answered = await settle(wallet, quoteId)
    first.resolve(undefined)
    expect(await held).toEqual(answered)
    expect(await sessionOf(answered.ok!.paymentId)).toMatchObject({ status: 'ACTIVE' })
  })

  test('is opened when the first has expired at the provider without a webhook', async () => {
    const wallet = newWallet()
    const first = (await settle(wallet)).ok!.paymentId
    await fixture.control('faults', { webhooks: { drop: 1 } })
    await fixture.control(`sessions/${first}/expire`)
    expect(await settleMore(wallet)).toHaveProperty('ok')
    await fixture.becomes(first, { state: 'expired' })
  })

  test('is refused when the first is paid, with or without a webhook; its quote stays unused', async () => {
    for (const drop of [0, 1]) {
      const wallet = newWallet()
      const first = (await settle(wallet)).ok!.paymentId
      await fixture.control('faults', { webhooks: { drop } })
      await fixture.control(`sessions/${first}/pay`, { channel_code: 'QRIS' })
      if (!drop) await fixture.becomes(first, { state: 'paid' })
      const quoteId = fixture.quote()
      expect(await settleMore(wallet, quoteId)).toEqual({ refused: 'settlement_on_its_way' })
      expect(fixture.quotes.get(quoteId)!.requestFingerprint).toBeUndefined()
      await fixture.becomes(first, { state: 'paid' })
      // AUSD drawn later is another debt.
      await fixture.settle('repay', first)
      expect(await settle(wallet, quoteId)).toHaveProperty('ok')
      await fixture.control('faults', {})
    }
  })

  test('is refused temporarily when the provider does not respond; the same quote works later', async () => {
    const wallet = newWallet()
    const first = (await settle(wallet)).ok!.paymentId
    const quoteId = fixture.quote()
    fixture.chain.drawn = '4000000'
    for (const api of [{ errorRate: 1 }, { errorAfterAccept: 1 }]) {
      await fixture.control('faults', { api })
      expect(await settle(wallet, quoteId)).toEqual({ refused: 'provider_unavailable' })
    }
    await fixture.becomes(first, { state: 'awaiting_payment' })
    await fixture.control('faults', {})
    expect(await settle(wallet, quoteId)).toHaveProperty('ok')
    await fixture.becomes(first, { state: 'replaced' })
  })

  test.each([
    ['whose lease is over', { openingUntil: new Date(0) }],
    // The role of the service deletes no rows.
    ['whose row was lost with Postgres', { id: 'lost', wallet: newWallet(), quoteId: crypto.randomUUID() }],
  ])('is not ended by a request %s', async (_, change) => {
    const wallet = newWallet()
    const quoteId = fixture.quote()
    const { ask } = fixture.context
    const goesOn = Promise.withResolvers<void>()
    const asking: typeof ask = async (question, request, ...more) => {
      const isIts = question.subject === QuoteTake.subject && (request as { quoteId: string }).quoteId === quoteId
      if (isIts) await goesOn.promise
      return ask(question, request, ...more)
    }
    Object.assign(fixture.context, { ask: asking })
    const stalled = settle(wallet, quoteId)
    const isIt = eq(payments.quoteId, quoteId)
    await waitUntil('its row', async () => (await fixture.rows()).some((row) => row.quoteId === quoteId))
    await fixture.database.run((db) => db.update(payments).set(change).where(isIt))
    const later = (await settle(wallet)).ok!.paymentId
    goesOn.resolve()
    expect(await stalled).toEqual({ refused: 'provider_unavailable' })
    Object.assign(fixture.context, { ask })
    expect(await fixture.row(later)).toMatchObject({ state: 'awaiting_payment' })
    expect(await sessionOf(later)).toMatchObject({ status: 'ACTIVE' })
  })

  test('leaves the first as replaced when a recheck finds it ended after its request died', async () => {
    const wallet = newWallet()
    const first = (await settle(wallet)).ok!.paymentId
    // The second request ended the first checkout at the provider, and died before it opened its own.
    const { provider } = fixture
    const cancelCheckout: typeof provider.cancelCheckout = async (...checkout) => {
      await provider.cancelCheckout(...checkout)
      return 'unknown'
    }
    Object.assign(fixture.context, { provider: { ...provider, cancelCheckout } })
    expect(await settleMore(wallet)).toEqual({ refused: 'provider_unavailable' })
    Object.assign(fixture.context, { provider })
    expect(await sessionOf(first)).toMatchObject({ status: 'CANCELED' })
    await fixture.recheck()
    expect(await fixture.row(first)).toMatchObject({ state: 'replaced', reason: 'replaced' })
  })

  test.each([
    ['an unknown quote', 'quote_unknown', () => crypto.randomUUID()],
    ['a debt too small', 'debt_too_small', () => fixture.quote('USD/MYR', '1')],
  ])('refused for %s leaves the first unchanged', async (_, refused, quoteOf) => {
    const wallet = newWallet()
    const first = (await settle(wallet)).ok!.paymentId
    expect(await settle(wallet, quoteOf())).toEqual({ refused })
    expect(await fixture.row(first)).toMatchObject({ state: 'awaiting_payment' })
    expect(await sessionOf(first)).toMatchObject({ status: 'ACTIVE' })
  })

  test('whose quote expires before it opens leaves the first unchanged', async () => {
    const wallet = newWallet()
    const first = (await settle(wallet)).ok!.paymentId
    fixture.chain.drawn = '4000000'
    const quoteId = fixture.quote()
    fixture.quotes.get(quoteId)!.expiresOnTake = true
    expect(await settle(wallet, quoteId)).toEqual({ refused: 'quote_expired' })
    expect(await fixture.row(first)).toMatchObject({ state: 'awaiting_payment' })
    expect(await sessionOf(first)).toMatchObject({ status: 'ACTIVE' })
    expect(await settle(wallet)).toHaveProperty('ok')
    await fixture.becomes(first, { state: 'replaced' })
  })

  // guard: a settlement is stored only if no other of its debt is open or in progress
  // together with: unique index payments.payments_open_settlement
  test('requested ten times concurrently leaves one open checkout, here and at the provider', async () => {
    const wallet = newWallet()
    await Promise.all(Array.from({ length: 10 }, () => settle(wallet)))
    const rows = (await fixture.rows()).filter((row) => row.wallet === wallet)
    expect(rows.filter(({ state }) => state === 'awaiting_payment').length).toBeLessThanOrEqual(1)
    expect(rows.filter(({ state }) => state === 'opening').length).toBe(0)
    const { sessions } = (await fixture.control('book')) as unknown as {
      sessions: { reference_id: string; status: string }[]
    }
    const ids = new Set(rows.map(({ id }) => id))
    const active = sessions.filter((session) => ids.has(session.reference_id) && session.status === 'ACTIVE')
    expect(active.length).toBeLessThanOrEqual(1)
  })
})

describe('concurrent requests for a checkout, each retried while the response is to retry,', () => {
  const insist = async (wallet: string) => {
    const quoteId = fixture.quote()
    for (;;) {
      const answer = await settle(wallet, quoteId)
      if (answer.refused !== 'provider_unavailable') return answer.refused ?? 'ok'
    }
  }

  test('all get a checkout: none is replaced between its row and the provider call', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const wallet = newWallet()
        return Promise.all([1, 2, 3, 4].map(() => insist(wallet)))
      }),
    )
    expect(answers).toEqual(answers.map(() => ['ok', 'ok', 'ok', 'ok']))
  })
})

describe('money for a replaced checkout', () => {
  test('repays under its own ref, and so does money for the new one', async () => {
    const wallet = newWallet()
    const first = (await settle(wallet)).ok!.paymentId
    await fixture.control(`sessions/${first}/choose`, { channel_code: 'BCA_VIRTUAL_ACCOUNT' })
    const second = (await settleMore(wallet)).ok!.paymentId
    await fixture.control(`sessions/${first}/pay`, { channel_code: 'BCA_VIRTUAL_ACCOUNT' })
    await fixture.becomes(first, { state: 'paid' })
    await fixture.control(`sessions/${second}/pay`, { channel_code: 'CARDS', force: true })
    await fixture.becomes(second, { state: 'paid' })
    for (const [id, held, ausd] of [
      [first, false, '3000000'],
      [second, true, '4000000'],
    ] as const) {
      const [order] = (await fixture.orders(id)).filter(({ subject }) => subject === 'relay.repay')
      expect(order!.payload).toMatchObject({ refId: id, ausd, held })
    }
  })

  test('without a webhook is found for a day', async () => {
    const wallet = newWallet()
    const first = (await settle(wallet)).ok!.paymentId
    await fixture.control(`sessions/${first}/choose`, { channel_code: 'BCA_VIRTUAL_ACCOUNT' })
    await settleMore(wallet)
    await fixture.control('faults', { webhooks: { drop: 1 } })
    await fixture.control(`sessions/${first}/pay`, { channel_code: 'BCA_VIRTUAL_ACCOUNT' })
    await fixture.list()
    await fixture.becomes(first, { state: 'paid' })
  })
})
