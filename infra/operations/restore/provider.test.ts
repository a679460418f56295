import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openSandboxFixture, type SandboxFixture } from '#test/support/sandbox'
import { openProvider } from './provider'

const keys = { ID: 'key-id', MY: 'key-my' }
let sandbox: SandboxFixture
beforeAll(async () => {
  sandbox = await openSandboxFixture()
})
afterAll(() => sandbox?.[Symbol.asyncDispose]())

const open = (url: string) => openProvider({ url, keys, requestsPerMinute: 60_000 })

const holder = { account_number: '1234567890', account_holder_name: 'Ana' }
const orders = {
  v2: { channel_code: 'ID_BCA', channel_properties: holder, amount: 81_250, currency: 'IDR' },
  v3: {
    recipient: {
      type: 'INDIVIDUAL',
      relationship: 'CUSTOMER',
      address: { country: 'ID' },
      account_details: { ...holder, routing_type_1: 'SWIFT', routing_value_1: 'CENAIDJA' },
    },
    payout_details: { source_currency: 'IDR', destination_currency: 'IDR', destination_amount: 81_250 },
    source_of_fund: 'BUSINESS_REVENUE',
    purpose_code: 'OTHER',
  },
}

async function order(version: 'v2' | 'v3'): Promise<string> {
  const id = crypto.randomUUID()
  const headers = { 'idempotency-key': id, 'api-version': '2025-09-09' }
  const { status } = await sandbox.call('ID', `/${version}/payouts`, { reference_id: id, ...orders[version] }, headers)
  expect(status).toBe(200)
  return id
}

// A cash-out without a payout is returned by a restore.
test.each(['v2', 'v3'] as const)('an operator sees a payout that was ordered through %s', async (version) => {
  const id = await order(version)
  const found = await open(sandbox.url).payoutsOf(id)
  expect(found).toMatchObject([{ reference_id: id, amount: { decimal: '81250' }, currency: 'IDR' }])
  expect(await open(sandbox.url).payoutsOf(id, version)).toMatchObject([{ id: found[0]!.id }])
})

// guard: a restore takes no incomplete list of payouts for proof that a bank was not paid
test.each([
  ['names more pages', { has_more: true, data: [] }],
  ['has payouts of another reference', { has_more: false, data: [{ reference_id: 'other' }] }],
  ['is a bare list', []],
])('a list of payouts that %s is no proof that there is none', async (_, body) => {
  const payout = { payout_id: 'p', id: 'p', status: 'ACCEPTED', channel_code: 'ID_BCA', created: '2026-11-22' }
  const amounts = { amount: 1, currency: 'IDR', source_amount: 1, source_currency: 'IDR' }
  const listed = Array.isArray(body)
    ? body
    : { ...body, data: body.data.map((one) => ({ ...payout, ...amounts, ...one })) }
  using server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => Response.json(listed) })
  expect(
    await open(server.url.origin)
      .payoutsOf('mine')
      .catch((error: Error) => error),
  ).toBeInstanceOf(Error)
})

test('an account without one version is told the setting, and a payout of the other version is found by it', async () => {
  using server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) =>
      url.includes('/v3/')
        ? Response.json({ error_code: 'REQUEST_FORBIDDEN_ERROR', message: '' }, { status: 403 })
        : Response.json({ has_more: false, data: [] }),
  })
  const { payoutsOf } = open(server.url.origin)
  expect(await payoutsOf('mine', 'v2')).toEqual([])
  expect(String(await payoutsOf('mine').catch((error: Error) => error))).toContain('PROVIDER_PAYOUTS_API')
})
