import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openSandboxFixture, type SandboxFixture, sessionBody } from '#test/support/sandbox'

let fixture: SandboxFixture
beforeAll(async () => {
  fixture = await openSandboxFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

async function paid() {
  const session = await fixture.call('ID', '/sessions', sessionBody())
  const path = `sessions/${session.json.payment_session_id}/pay`
  return (await fixture.control(path, { channel_code: 'CARDS' })).json
}

test('a dispute is told by webhooks whose body is flat, and can be fetched', async () => {
  const payment = await paid()
  const due_date = '2027-03-15T19:50:51.724Z'
  const opened = (await fixture.control(`payments/${payment.payment_id}/dispute`, { due_date })).json
  const [told] = await fixture.events('dispute.action_required')
  expect(told!.json).toMatchObject({
    event: 'dispute.action_required',
    id: opened.id,
    status: 'ACTION_REQUIRED',
    due_date,
  })
  expect(told!.json).not.toHaveProperty('data')
  expect(told!.json.amount).toEqual({ initial: '150000.00', terminal: null })
  await fixture.control(`disputes/${opened.id}`, { status: 'UNDER_REVIEW' })
  await fixture.control(`disputes/${opened.id}`, { status: 'LOST', amount: 100_000 })
  const { json } = await fixture.get('ID', `/v1/disputes/${opened.id}`)
  expect(json).toMatchObject({ status: 'LOST', amount: { initial: '150000.00', terminal: '100000.00' } })
  expect((await fixture.events('dispute.lost')).length).toBe(1)
  // The money is taken back by a chargeback.
  const rows = (await fixture.get('ID', '/transactions?types=CHARGEBACK')).json.data
  expect(rows.map(({ amount }: { amount: number }) => amount)).toEqual([100_000])
})

test('a dispute names its payment by an id or by our reference, by the seed', async () => {
  const payment = await paid()
  const named = new Set<string>()
  for (let seed = 0; seed < 24; seed++) {
    await fixture.control('faults', { seed })
    const { json } = await fixture.control(`payments/${payment.payment_id}/dispute`)
    const { payment_id, reference_id } = json
    expect(payment_id ?? reference_id).not.toBeNull()
    named.add(payment_id === payment.payment_id ? 'payment' : payment_id === null ? 'reference' : 'request')
  }
  await fixture.control('faults', { seed: null })
  expect(named).toEqual(new Set(['payment', 'request', 'reference']))
})

test('a dispute of another account is not found', async () => {
  const payment = await paid()
  const { json } = await fixture.control(`payments/${payment.payment_id}/dispute`)
  expect((await fixture.get('MY', `/v1/disputes/${json.id}`)).status).toBe(404)
})

test('a dispute that is lost takes more if it grows, gives all back once it is won, and takes it again', async () => {
  const payment = await paid()
  const opened = (await fixture.control(`payments/${payment.payment_id}/dispute`, { currency: 'USD' })).json
  expect(opened.currency).toBe('USD')
  const decide = (status: string, amount: number) => fixture.control(`disputes/${opened.id}`, { status, amount })
  const rowOf = async () => {
    const { chargebacks } = await fixture.book()
    return chargebacks
      .filter((one: { of_payment: string }) => one.of_payment === payment.payment_id)
      .map(({ status, amount, currency }: { status: string; amount: number; currency: string }) => [
        status,
        amount,
        currency,
      ])
  }
  await decide('LOST', 50_000)
  await decide('LOST', 150_000)
  expect(await rowOf()).toEqual([['SUCCESS', 150_000, 'USD']])
  await decide('WON', 150_000)
  expect(await rowOf()).toEqual([['REVERSED', 150_000, 'USD']])
  await decide('LOST', 150_000)
  expect(await rowOf()).toEqual([['SUCCESS', 150_000, 'USD']])
})

test('a dispute finds the payment of a reference although a later session of it is unpaid', async () => {
  const reference = `twice-${crypto.randomUUID()}`
  const session = await fixture.call('ID', '/sessions', sessionBody({ reference_id: reference }))
  await fixture.control(`sessions/${session.json.payment_session_id}/pay`, { channel_code: 'CARDS' })
  await fixture.call('ID', '/sessions', sessionBody({ reference_id: reference }))
  const { status } = await fixture.control(`payments/${reference}/chargeback`)
  expect(status).toBe(200)
})
