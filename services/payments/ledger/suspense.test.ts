import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { lockItem } from '#shared/ledger/journal.store'
import { findReports, recordReport } from '../losses/refund.store'
import { recordPayment } from '../payment.store'
import { anomalyKinds } from '../schema.store'
import { newWallet, openFixture, waitUntil } from '../test-support'
import { bookUnmatched } from './book'
import { booksOf } from './test-support'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(() => fixture.control('faults', {}))

const { readBooks, booked } = booksOf(fixture)
const until = (item: string, lines: Record<string, bigint>) =>
  waitUntil(`${item} in the books`, async () => {
    expect(await readBooks(item)).toEqual(lines)
    return true
  })

type Charge = { payment_id: string }
const pay = async (id: string, channel_code = 'QRIS') =>
  (await fixture.control(`sessions/${id}/pay`, { channel_code, force: true })) as unknown as Charge
const refund = (id: string, body: object = {}) => fixture.control(`payments/${id}/refund`, body)
async function opened(wallet = newWallet()) {
  const asked = { wallet, amount: '50000', method: 'qr', quoteId: fixture.quote() }
  return (await fixture.topup(asked)).ok!.paymentId
}
async function credited(wallet = newWallet()) {
  const id = await opened(wallet)
  const { payment_id: charge } = await pay(id)
  await fixture.becomes(id, { state: 'paid' })
  await fixture.settle('credit', id)
  return { id, charge }
}

/** Opens a checkout of another shop in the same account at the provider. */
async function foreign(amount = 70_000) {
  const answer = await fetch(`${fixture.sandbox.url}/sessions`, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${btoa('xnd_development_id:')}`,
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({
      reference_id: 'another shop',
      session_type: 'PAY',
      mode: 'PAYMENT_LINK',
      currency: 'IDR',
      country: 'ID',
      amount,
    }),
  })
  return ((await answer.json()) as { payment_session_id: string }).payment_session_id
}

const suspended = (minor: bigint) => ({ 'provider_id IDR': minor, 'suspense IDR': -minor })

describe('a second payment for the same promise', () => {
  test('is in suspense until it is refunded at the provider', async () => {
    const quoteId = fixture.quote()
    const asked = { wallet: newWallet(), amount: '50000', method: 'qr', quoteId }
    await fixture.control('faults', { api: { errorAfterAccept: 1 } })
    await fixture.topup(asked)
    await fixture.control('faults', {})
    await fixture.topup(asked)
    const { id } = (await fixture.rows()).find((row) => row.quoteId === quoteId)!
    const { sessions } = (await fixture.control('book')) as unknown as {
      sessions: { reference_id: string; payment_session_id: string }[]
    }
    for (const { reference_id, payment_session_id } of sessions) if (reference_id === id) await pay(payment_session_id)
    await fixture.becomes(id, { overpaidMinor: 50_000n })
    await fixture.settle('credit', id)
    expect(await booked(id)).toMatchObject({
      'suspense IDR': -50_000n,
      'provider_id IDR': 100_000n,
    })
    const second = (await fixture.anomalies()).find(({ kind, paymentId }) => kind === 'paid_twice' && paymentId === id)!
    await refund(second.object, { amount: 20_000 })
    await fixture.becomes(id, { overpaidRefundedMinor: 20_000n })
    expect(await booked(id)).toMatchObject({ 'suspense IDR': -30_000n, 'provider_id IDR': 80_000n })
    await refund(second.object)
    await fixture.list()
    await fixture.becomes(id, { overpaidRefundedMinor: 50_000n, refundedMinor: 0n })
    const said = await booked(id)
    expect(said).toMatchObject({ 'provider_id IDR': 50_000n, 'collateral AUSD': -3_076_923n })
    expect(said).not.toHaveProperty('suspense IDR')
  })
})

describe('unmatched money', () => {
  test('is in suspense under its own id until it is refunded', async () => {
    const { payment_id: charge } = await pay(await foreign())
    await fixture.list()
    await fixture.list()
    expect(await readBooks(charge)).toEqual(suspended(70_000n))
    await refund(charge, { amount: 30_000 })
    await until(charge, suspended(40_000n))
    await refund(charge)
    await fixture.list()
    await until(charge, {})
  })

  test('leaves suspense once its payment is found', async () => {
    const id = await opened()
    const checkoutId = await foreign(50_000)
    const { payment_id: charge } = await pay(checkoutId)
    await until(charge, suspended(50_000n))
    // A restored row may find its own checkout later.
    await fixture.database.run((db) => recordPayment(db, id, { checkoutId }))
    // On a busy machine the provider may answer a check too late; the next one asks again.
    await waitUntil('the payment being found', async () => {
      await fixture.recheck()
      return (await fixture.row(id))?.state === 'paid'
    })
    expect(await readBooks(charge)).toEqual({})
    expect(await booked(id)).toMatchObject({ 'provider_id IDR': 50_000n })
  })

  test('is booked less every refund, also when two arrive concurrently', async () => {
    const charge = { account: 'ID', paymentId: 'py-twice', currency: 'IDR', paidMinor: 9n } as const
    const { database } = fixture
    const receive = (id: string) =>
      database.transaction(async (tx) => {
        const refunded = { providerPaymentId: charge.paymentId, refundedMinor: 4n, paymentId: '' }
        await recordReport(tx, { id, ...refunded, status: 'succeeded' })
        await bookUnmatched(tx, charge as never)
      })
    const waiting = sql`select count(*)::int as many from pg_locks where locktype = 'advisory' and not granted`
    const both = await database.transaction(async (tx) => {
      lockItem(tx, charge.paymentId)
      await tx.execute(sql`select`)
      const received = [receive('rfd-one'), receive('rfd-two')]
      await waitUntil('both waiting', async () => {
        const [row] = await database.read((db) => db.execute<{ many: number }>(waiting))
        return row!.many === 2
      })
      return received
    })
    await Promise.all(both)
    expect(await readBooks(charge.paymentId)).toEqual(suspended(1n))
  })

  test('that was refunded moves to its payment after a restore brings the payment back', async () => {
    const refund = { id: 'rfd-x', providerPaymentId: 'py-x', refundedMinor: 5n } as const
    const reports = await fixture.database.transaction(async (tx) => {
      await recordReport(tx, { ...refund, paymentId: '', status: 'succeeded' })
      await recordReport(tx, { ...refund, paymentId: 'pay_x', status: 'pending' })
      return findReports(tx, 'py-x')
    })
    expect(reports).toMatchObject([{ paymentId: 'pay_x', status: 'succeeded' }])
  })

  test("known only from the provider's list is in suspense under the id of its row", async () => {
    const row = { type: 'chargeback', status: 'succeeded', productId: null, paymentRequestId: null }
    const listed = { ...row, transactionId: 'txn-lost', reference: null, channel: null }
    const when = { created: null, updated: new Date() }
    await fixture.listing.receive('ID', {
      ...listed,
      ...when,
      currency: 'IDR',
      amountMinor: 9_000n,
    } as never)
    expect(await readBooks('txn-lost')).toEqual(suspended(-9_000n))
  })
})

describe('a chargeback after the credit', () => {
  test('is not a loss after the dispute is won, and the wallet is unfrozen', async () => {
    const wallet = newWallet()
    const { id } = await credited(wallet)
    const { id: chargeback } = await fixture.control(`payments/${id}/chargeback`)
    await fixture.list()
    await fixture.becomes(id, { state: 'review', refundedMinor: 50_000n })
    expect(await booked(id)).toMatchObject({ 'clawback AUSD': 3_076_923n })
    await fixture.control(`chargebacks/${chargeback}`, { status: 'REVERSED' })
    await fixture.list()
    await fixture.list()
    await fixture.becomes(id, { state: 'credited', refundedMinor: 0n })
    expect(await booked(id)).not.toHaveProperty('clawback AUSD')
    expect(await fixture.walletRow(wallet)).toMatchObject({ frozen: false })
  })

  test('is waived when an operator writes it off, and owed again when the loss grows', async () => {
    const wallet = newWallet()
    const { id } = await credited(wallet)
    const item = `${id}/reversal`
    await refund(id, { amount: 25_000 })
    await fixture.becomes(id, { state: 'review' })
    expect(await readBooks(item)).toEqual({})
    await fixture.clear(wallet)
    const { lostMicro } = (await fixture.reversals()).find(({ paymentId }) => paymentId === id)!
    expect(await readBooks(item)).toEqual({ 'waived AUSD': lostMicro, 'clawback AUSD': -lostMicro })
    expect((await booked(id))['clawback AUSD']).toBe(lostMicro)
    await refund(id)
    await fixture.becomes(id, { refundedMinor: 50_000n })
    await until(item, {})
  })
})

/** Booking of each anomaly, or the reason for which it is not booked. */
const oddities: Readonly<Record<(typeof anomalyKinds)[number], string>> = {
  event_unknown: 'no money: a webhook that we cannot parse; the list has its object',
  object_unknown: 'no money: no such object; a refund reduces the unmatched money',
  money_unmatched: 'in suspense, under its own id',
  paid_twice: 'in suspense, with its payment; in another currency no account has it',
  status_unknown: 'unknown: nothing is booked before the provider reports a status',
  sender_unverified: 'no money: about an amount already booked',
  amount_unknown: 'unknown: the list of transactions has the sum',
  look_up_refused: 'unknown: the provider does not say',
  charge_doubtful: 'unknown: its money counts as ours until the provider reports it void',
  charge_ambiguous: 'none: it is counted against the charge that counts',
  repaid_needlessly: 'in owed_back, under its reversal, until it is given back',
  dispute_won: 'no money: its chargeback is no longer counted',
}
test('every anomaly is booked or has a documented reason', () => {
  expect(Object.keys(oddities).sort()).toEqual([...anomalyKinds].sort())
})
