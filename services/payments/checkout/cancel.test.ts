import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { newWallet, openFixture } from '../test-support'
import { cancellationsPerDayMax } from './cancel'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(async () => {
  Object.assign(fixture.chain, { verified: true, drawn: '3000000', frozen: false })
  await fixture.control('faults', {})
})

const topup = async (wallet: string) => {
  const asked = { wallet, amount: '50000', method: 'qr', quoteId: fixture.quote() }
  return (await fixture.topup(asked)).ok!.paymentId
}
const settlement = async (wallet: string) =>
  (await fixture.settlement({ wallet, quoteId: fixture.quote() })).ok!.paymentId
const openers = { topup, settlement }
const kinds = ['topup', 'settlement'] as const
const pay = (id: string, channel = 'QRIS') => fixture.control(`sessions/${id}/pay`, { channel_code: channel })
const leftOf = async (wallet: string) => BigInt((await fixture.limit({ wallet })).ok!.left)
const cancelled = { status: 'expired', reason: 'cancelled', nextAction: null }

describe.each(kinds)('the open checkout of a %s', (kind) => {
  const open = openers[kind]

  test('is cancelled at the provider and closed here, with the reason', async () => {
    const wallet = newWallet()
    const id = await open(wallet)
    const { item } = (await fixture.cancel({ wallet, kind, id })).ok!
    expect(item).toMatchObject({ id, kind, inFlight: false, ...cancelled } as object)
    expect(item).not.toHaveProperty('checkoutUrl')
    const { sessions } = (await fixture.control('book')) as unknown as {
      sessions: { reference_id: string; status: string }[]
    }
    const statuses = sessions.filter((one) => one.reference_id === id).map(({ status }) => status)
    expect(statuses).toEqual(['CANCELED'])
  })

  test('is cancelled once, however often that is requested', async () => {
    const wallet = newWallet()
    const id = await open(wallet)
    const asked = { wallet, kind, id }
    const answers = await Promise.all([fixture.cancel(asked), fixture.cancel(asked)])
    const again = await fixture.cancel(asked)
    for (const { ok } of [...answers, again]) expect(ok!.item).toMatchObject(cancelled)
  })

  test('that was paid first stays paid, and the response has its state', async () => {
    const wallet = newWallet()
    const id = await open(wallet)
    // The webhook of the payment is lost, so only the provider knows of it.
    await fixture.control('faults', { webhooks: { drop: 1 } })
    await pay(id)
    const { item } = (await fixture.cancel({ wallet, kind, id })).ok!
    expect(item).toMatchObject({ id, status: 'paid' })
    expect(item).not.toHaveProperty('reason')
  })

  test('stays open while the provider does not respond, and is cancelled by a later request', async () => {
    const wallet = newWallet()
    const id = await open(wallet)
    await fixture.control('faults', { api: { errorRate: 1 } })
    const asked = { wallet, kind, id }
    expect(await fixture.cancel(asked)).toEqual({ refused: 'cancellation_unconfirmed' })
    expect(await fixture.row(id)).toMatchObject({ state: 'awaiting_payment', reason: null })
    await fixture.control('faults', {})
    expect((await fixture.cancel(asked)).ok!.item).toMatchObject(cancelled)
  })

  test('is closed with the reason by a recheck, if the process died after it was cancelled', async () => {
    const wallet = newWallet()
    const id = await open(wallet)
    const { account, checkoutId } = (await fixture.row(id))!
    expect(await fixture.provider.cancelCheckout(account, checkoutId!)).toBe('closed')
    await fixture.recheck()
    await fixture.becomes(id, { state: 'expired', reason: 'cancelled', topupMicro: 0n })
  })

  test('cannot be cancelled by another wallet or as another kind, as if it did not exist', async () => {
    const wallet = newWallet()
    const id = await open(wallet)
    const other = kind === 'topup' ? 'settlement' : 'topup'
    const unknown = { ok: { item: null } }
    expect(await fixture.cancel({ wallet: newWallet(), kind, id })).toEqual(unknown as never)
    expect(await fixture.cancel({ wallet, kind: other, id })).toEqual(unknown as never)
    expect(await fixture.cancel({ wallet, kind, id: `${id.slice(0, -1)}~` })).toEqual(unknown as never)
    expect(await fixture.row(id)).toMatchObject({ state: 'awaiting_payment' })
  })

  test('that was over before the cancellation has expired, and is not counted as cancelled', async () => {
    const wallet = newWallet()
    const id = await open(wallet)
    fixture.time.aheadMs += 901_000
    const { item } = (await fixture.cancel({ wallet, kind, id })).ok!
    fixture.time.aheadMs -= 901_000
    expect(item).toMatchObject({ status: 'expired', reason: 'not_paid_in_time' })
  })
})

test.each(['QRIS', 'CARDS'])(
  'a checkout that is paid and cancelled at the same moment ends in exactly one of both (%s)',
  async (channel) => {
    for (let turn = 0; turn < 12; turn++) {
      const wallet = newWallet()
      const id = await topup(wallet)
      const [answer] = await Promise.all([
        fixture.cancel({ wallet, kind: 'topup', id }),
        pay(id, channel).catch(() => {}),
      ])
      const { charges } = await bookOf(id)
      const isPaid = charges > 0
      if (isPaid) await fixture.becomesEither(id, ['paid'])
      const { state, reason } = (await fixture.row(id))!
      expect([state, reason]).toEqual(isPaid ? ['paid', null] : ['expired', 'cancelled'])
      if (answer.ok) expect(answer.ok.item!.status).toBe(state)
      const orders = (await fixture.subjects(id)).filter((one) => one === 'relay.credit')
      expect(orders).toHaveLength(isPaid ? 1 : 0)
    }
  },
)

async function bookOf(id: string) {
  const { payments } = (await fixture.control('book')) as unknown as {
    payments: { reference_id: string }[]
  }
  return { charges: payments.filter((one) => one.reference_id.startsWith(id)).length }
}

describe('a cancelled checkout', () => {
  test('frees its share of the daily limit and of the open top-ups', async () => {
    const wallet = newWallet()
    const whole = await leftOf(wallet)
    const limits = { ...fixture.context.topupLimits }
    Object.assign(fixture.context.topupLimits, { openMax: 1 })
    const first = await topup(wallet)
    const asked = { wallet, amount: '50000', method: 'qr', quoteId: fixture.quote() }
    expect(await fixture.topup(asked)).toEqual({ refused: 'topups_open_too_many' })
    await fixture.cancel({ wallet, kind: 'topup', id: first })
    expect(await leftOf(wallet)).toBe(whole)
    expect(await fixture.topup(asked)).toHaveProperty('ok')
    Object.assign(fixture.context.topupLimits, limits)
  })

  test('that is paid nevertheless counts again, and goes to review above the daily limit', async () => {
    const limits = { ...fixture.context.topupLimits }
    const wallet = newWallet()
    const id = await topup(wallet)
    const within = await topup(wallet)
    for (const one of [id, within]) await fixture.cancel({ wallet, kind: 'topup', id: one })
    const whole = await leftOf(wallet)
    const late = (one: string) => fixture.control(`sessions/${one}/pay`, { channel_code: 'QRIS', force: true })
    await late(within)
    await fixture.becomes(within, { state: 'paid', topupMicro: 3_076_923n })
    expect(await leftOf(wallet)).toBe(whole - 3_076_923n)
    Object.assign(fixture.context.topupLimits, { dayMicroMax: 4_000_000n })
    await late(id)
    await fixture.becomes(id, { state: 'review', reason: 'excess_refused' })
    Object.assign(fixture.context.topupLimits, limits)
  })

  test('of a settlement leaves the debt to another one at once', async () => {
    const wallet = newWallet()
    const id = await settlement(wallet)
    await fixture.cancel({ wallet, kind: 'settlement', id })
    expect(await settlement(wallet)).not.toBe(id)
  })

  test('gets its first response again for the same request, and opens no second checkout', async () => {
    const wallet = newWallet()
    const asked = { wallet, amount: '50000', method: 'qr', quoteId: fixture.quote() }
    const first = await fixture.topup(asked)
    expect(await fixture.topup(asked)).toEqual(first)
    await fixture.cancel({ wallet, kind: 'topup', id: first.ok!.paymentId })
    expect(await fixture.topup(asked)).toEqual(first)
    expect(await fixture.row(first.ok!.paymentId)).toMatchObject({ state: 'expired' })
  })
})

test('a wallet may cancel ten checkouts a day; the next ones stay open', async () => {
  const wallet = newWallet()
  const cancel = async () => {
    const id = await topup(wallet)
    return { id, ...(await fixture.cancel({ wallet, kind: 'topup', id })) }
  }
  for (let turn = 0; turn < cancellationsPerDayMax; turn++) expect(await cancel()).toHaveProperty('ok')
  const { id, refused } = await cancel()
  expect(refused).toBe('cancellations_too_many')
  expect(await fixture.row(id)).toMatchObject({ state: 'awaiting_payment' })
})

test('of checkouts cancelled at the same moment, those beyond the ten expire and keep counting for the limits', async () => {
  const wallet = newWallet()
  const ids = await Promise.all(Array.from({ length: cancellationsPerDayMax + 3 }, () => topup(wallet)))
  await Promise.all(ids.map((id) => fixture.cancel({ wallet, kind: 'topup', id })))
  const rows = (await fixture.rows()).filter((row) => row.wallet === wallet)
  const beyond = rows.filter(({ reason }) => reason !== 'cancelled')
  expect(rows.length - beyond.length).toBe(cancellationsPerDayMax)
  for (const row of beyond) expect(row.topupMicro).toBeGreaterThan(0n)
})
