import { afterAll, beforeAll, expect, test } from 'bun:test'
import { patienceMs, waitUntil } from '#infra/local/wait'
import { openSandboxFixture, payoutBody, type SandboxFixture, sessionBody } from '#test/support/sandbox'

let fixture: SandboxFixture
beforeAll(async () => {
  // A failing payout must be out of the balance for long enough that the test sees it.
  fixture = await openSandboxFixture({ floatIdrMinor: 1_000_000n, payoutSettleMs: 3_000 })
})
afterAll(() => fixture[Symbol.asyncDispose]())

const balance = async () => (await fixture.get('ID', '/balance?account_type=CASH&currency=IDR')).json
const pay = async (change: Record<string, unknown> = {}, accountNumber?: string) => {
  const headers = { 'idempotency-key': crypto.randomUUID() }
  return (await fixture.call('ID', '/v2/payouts', payoutBody(accountNumber, change), headers)).json
}
const reach = (id: string, status: string) =>
  waitUntil(
    status,
    async () => {
      const { json } = await fixture.get('ID', `/v2/payouts/${id}`)
      return json.status === status && json
    },
    patienceMs,
    5,
  )

test('a payout is deducted when it is requested, and credited back when it fails', async () => {
  expect(await balance()).toEqual({ balance: 1_000_000 })
  await pay({ amount: 250_000 })
  expect(await balance()).toEqual({ balance: 750_000 })
  const failing = await pay({ amount: 100_000 }, '999999')
  expect(await balance()).toEqual({ balance: 650_000 })
  await reach(failing.id, 'FAILED')
  expect(await balance()).toEqual({ balance: 750_000 })
})

test('a payout above the balance is accepted and then fails, without deducting anything', async () => {
  const { balance: before } = await balance()
  const large = await pay({ amount: before + 1 })
  expect(large.status).toBe('ACCEPTED')
  const failed = await reach(large.id, 'FAILED')
  expect(failed.failure_code).toBe('INSUFFICIENT_BALANCE')
  expect(await balance()).toEqual({ balance: before })
})

test('a control deposits or withdraws until the balance has the given amount, with an entry in the list', async () => {
  expect((await fixture.control('balance', { amount: 12_345 })).json.ID).toBe(12_345)
  expect(await balance()).toEqual({ balance: 12_345 })
  await fixture.control('balance', { amount: 20_000 })
  const { json } = await fixture.get('ID', '/transactions?types=TOPUP&types=WITHDRAWAL')
  // Two entries of the same millisecond may come in either order.
  const byType = json.data.toSorted((a: { type: string }, b: { type: string }) => a.type.localeCompare(b.type))
  expect(byType).toMatchObject([
    { type: 'TOPUP', cashflow: 'MONEY_IN', amount: 7_655, status: 'SUCCESS' },
    { type: 'WITHDRAWAL', cashflow: 'MONEY_OUT', currency: 'IDR', status: 'SUCCESS' },
  ])
  await fixture.control('balance', { amount: 20_000 })
  const again = await fixture.get('ID', '/transactions?types=TOPUP&types=WITHDRAWAL')
  expect(again.json.data).toHaveLength(2)
  expect((await fixture.control('balance', { amount: -1 })).status).toBe(400)
  expect((await fixture.control('balance', { account: 'SG', amount: 1 })).status).toBe(400)
})

test('fees are deducted, and a balance of an earlier time has only earlier entries', async () => {
  const { balance: before } = await balance()
  const at = new Date().toISOString()
  await waitUntil('a later millisecond', () => Date.now() > Date.parse(at))
  await fixture.control('fees', { bps: 100 })
  const { json } = await fixture.call('ID', '/sessions', sessionBody({ amount: 100_000 }))
  await fixture.control(`sessions/${json.payment_session_id}/pay`, { channel_code: 'DANA' })
  expect(await balance()).toEqual({ balance: before + 100_000 - 1_000 - 110 })
  const { json: then } = await fixture.get('ID', `/balance?at_timestamp=${at}`)
  expect(then).toEqual({ balance: before })
})

test.each([['account_type=CHECKING'], ['at_timestamp=yesterday'], ['currency=MYR']])('%s is refused', async (query) => {
  const { status, json } = await fixture.get('ID', `/balance?${query}`)
  expect([status, json.error_code]).toEqual([400, 'API_VALIDATION_ERROR'])
})
