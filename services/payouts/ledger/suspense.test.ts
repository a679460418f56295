import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import type { Tx } from '#platform/db/open'
import { position } from '#shared/ledger/position'
import { waitUntil } from '#test/support/wait'
import { moveCashout } from '../cashout.store'
import { receiveEvidence } from '../incoming/receive'
import type { Evidence } from '../provider'
import { anomalyKinds, journal } from '../schema.store'
import { type Fixture, openFixture } from '../test-support'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture({ recheckAfterMs: 60_000 })
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

const told = async (item: string) => {
  const lines = await fixture.database.read((db) => db.select().from(journal).where(eq(journal.item, item)))
  return Object.fromEntries(position(lines).map(({ account, asset, amount }) => [`${account} ${asset}`, amount]))
}
type Answer = Partial<Evidence> & { referenceId: string }
const receiveIn = (tx: Tx, evidence: Answer) =>
  receiveEvidence(tx, fixture.context, {
    payoutId: `po-${crypto.randomUUID()}`,
    status: 'succeeded',
    word: 'SUCCEEDED',
    amountMinor: 81_250n,
    currency: 'IDR',
    failureCode: null,
    reason: null,
    ...evidence,
  })
const receive = (evidence: Answer) => fixture.database.transaction((tx) => receiveIn(tx, evidence))
const left = (minor: bigint) => ({ 'provider_id IDR': -minor, 'suspense IDR': minor })

async function paid() {
  const id = await fixture.taken()
  const { providerPayoutId } = await fixture.until(id, 'paid')
  return { id, payoutId: providerPayoutId! }
}

describe('a payout that does not match its cash-out', () => {
  test('is in suspense if this service did not order it, until the bank returns it', async () => {
    const payout = { referenceId: 'nobody', payoutId: 'po-nobody' }
    await receive({ ...payout, status: 'pending', word: 'ACCEPTED' })
    expect(await told('po-nobody')).toEqual({})
    await receive(payout)
    await receive(payout)
    expect(await told('po-nobody')).toEqual(left(81_250n))
    await receive({ ...payout, status: 'reversed', word: 'REVERSED' })
    expect(await told('po-nobody')).toEqual({})
  })

  test('is in suspense if it is the second of one cash-out', async () => {
    const { id } = await paid()
    await receive({ referenceId: id, payoutId: 'po-second' })
    expect(await told('po-second')).toEqual(left(81_250n))
  })

  test('is in suspense for its excess amount', async () => {
    const { id, payoutId } = await paid()
    await receive({ referenceId: id, payoutId, amountMinor: 90_000n })
    expect(await told(payoutId)).toEqual(left(8_750n))
  })

  test('leaves suspense by an answer that waits while the one before it is stored', async () => {
    const { id, payoutId } = await paid()
    const waiting = sql`select from pg_stat_activity where wait_event_type = 'Lock'`
    const isWaited = async () => (await fixture.database.read((db) => db.execute(waiting))).length > 0
    const { next } = await fixture.database.transaction(async (tx) => {
      await receiveIn(tx, { referenceId: id, payoutId, amountMinor: 90_000n })
      const next = receive({ referenceId: id, payoutId })
      await waitUntil('the next answer to wait', isWaited)
      return { next }
    })
    expect(await next).toEqual({ stay: true })
    expect(await told(payoutId)).toEqual({})
  })

  test('is in suspense if it is refused after it was paid, until the bank reports it reversed', async () => {
    const { id, payoutId } = await paid()
    await receive({ referenceId: id, payoutId, status: 'refused', word: 'FAILED' })
    expect(await told(payoutId)).toEqual(left(-81_250n))
    await receive({ referenceId: id, payoutId, status: 'reversed', word: 'REVERSED' })
    expect(await told(payoutId)).toEqual({})
    expect(await told(id)).toEqual({ 'treasury AUSD': 5_000_000n, 'returns AUSD': -5_000_000n })
  })

  test('is in suspense if its AUSD is returned nevertheless', async () => {
    const id = await fixture.taken({ bank: { accountNumber: '999999' } })
    const { providerPayoutId } = await fixture.until(id, 'returning')
    const payoutId = providerPayoutId!
    await receive({ referenceId: id, payoutId })
    expect(await told(payoutId)).toEqual(left(81_250n))
    await receive({ referenceId: id, payoutId, status: 'refused', word: 'FAILED' })
    expect(await told(payoutId)).toEqual({})
  })

  test('leaves suspense if it was ordered too early, and pays its cash-out', async () => {
    const id = (await fixture.create(fixture.request())).ok!.payoutId
    const payoutId = `po-${id}`
    await receive({ referenceId: id, payoutId })
    expect(await told(payoutId)).toEqual(left(81_250n))
    await fixture.database.run((db) => moveCashout(db, id, 'taken', { nextCheckAt: null }))
    await fixture.database.run((db) => moveCashout(db, id, 'paying', { nextCheckAt: null }))
    await receive({ referenceId: id, payoutId })
    expect(await told(payoutId)).toEqual({})
    expect((await fixture.row(id)).state).toBe('paid')
  })

  test("known only from the provider's list is in suspense under the id of its row", async () => {
    const row = { type: 'payout', status: 'succeeded', productId: null, paymentRequestId: null }
    const listed = { ...row, transactionId: 'txn-lost', reference: null, channel: null }
    await fixture.listing.receive('ID', {
      ...listed,
      created: null,
      updated: new Date(),
      currency: 'IDR',
      amountMinor: 9n,
    } as never)
    expect(await told('txn-lost')).toEqual(left(9n))
  })
})

describe('an unmatched payout that its row in the list reported first', () => {
  const listed = (change: object) =>
    fixture.listing.receive('ID', {
      type: 'payout',
      status: 'succeeded',
      productId: null,
      paymentRequestId: null,
      reference: null,
      channel: null,
      created: null,
      updated: new Date(),
      currency: 'IDR',
      amountMinor: 81_250n,
      ...change,
    } as never)

  test('is in suspense once after a lookup finds it', async () => {
    await listed({ transactionId: 'txn-early', productId: 'disb-early' })
    await receive({ referenceId: 'nobody', payoutId: 'disb-early' })
    expect([await told('txn-early'), await told('disb-early')]).toEqual([{}, left(81_250n)])
  })

  test('leaves suspense once its cash-out is known again', async () => {
    const reference = crypto.randomUUID()
    await listed({ transactionId: 'txn-restored', reference })
    expect(await told('txn-restored')).toEqual(left(81_250n))
    const { id } = await paid()
    await listed({ transactionId: 'txn-restored', reference: id })
    expect(await told('txn-restored')).toEqual({})
  })
})

const oddities: Readonly<Record<(typeof anomalyKinds)[number], string>> = {
  other_account: 'no money: payouts leave from the Indonesian account alone',
  event_unknown: 'no money: a webhook that we cannot parse; the list has its object',
  payout_unknown: 'in suspense, under its own id; nothing when the provider does not know it',
  payout_unexpected: 'in suspense, under its own id, until its cash-out is one that pays',
  payout_differs: 'in suspense, by how much it differs; in another currency no account has it',
  paid_twice: 'in suspense, under its own id',
  paid_and_returned: 'in suspense, under its own id',
  status_unknown: 'unknown: nothing is booked before the provider reports a status',
  key_taken: 'no money: an order that was not taken',
  provider_refuses: 'no money: an order that was not taken, or a look-up that was not answered',
  payout_lost: 'unknown: the row has the last status of the provider',
  return_failed: 'no money: it is still owed, and stays on `returns`',
}
test('every anomaly of a payout is booked or has a documented reason', () => {
  expect(Object.keys(oddities).sort()).toEqual([...anomalyKinds].sort())
})
