import { afterAll, describe, expect, test } from 'bun:test'
import { openLog } from '#platform/log'
import { openXendit } from './client'

/** Object with which the server answers each lookup. */
let told: object = {}
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => Response.json(told) })
afterAll(() => server.stop(true))

const provider = openXendit({
  baseUrl: server.url.origin,
  appUrl: 'https://app.example.com',
  secretKeys: { ID: 'i', MY: 'm' },
  requestsPerMinute: 60_000,
  log: openLog('suite', 'silent'),
})

describe('a lookup that the provider answers with another object', () => {
  test.each([
    ['payment', { payment_id: 'py-2' }, () => provider.findCharge('ID', 'py-1')],
    ['session', { payment_session_id: 'ps-2' }, () => provider.findCheckout('ID', 'ps-1')],
    ['refund', { id: 'rfd-2' }, () => provider.findRefund('ID', 'rfd-1')],
    [
      'payment request',
      { payment_request_id: 'pr-2', latest_payment_id: null },
      () => provider.findChargeOfRequest('ID', 'pr-1'),
    ],
    [
      'list of refunds',
      { data: [{ id: 'rfd-1', payment_request_id: 'pr-2' }] },
      () => provider.listRefunds('ID', 'pr-1'),
    ],
  ])('has an unknown outcome (%s)', async (_, body, ask) => {
    told = body
    await expect(ask()).rejects.toThrow('returned another')
  })

  test('leaves it unknown whether a cancelled session can still be paid', async () => {
    told = { payment_session_id: 'ps-2', status: 'CANCELED' }
    expect(await provider.cancelCheckout('ID', 'ps-1')).toBe('unknown')
  })
})

test('a lookup accepts a response without an id', async () => {
  told = { status: 'SUCCEEDED', payment_id: null }
  expect((await provider.findCharge('ID', 'py-1'))!.charge.paymentId).toBe('py-1')
})
