import { expect, test } from 'bun:test'
import { keptDelivery } from '#shared/provider/delivery'
import { readDelivery } from './delivery'

const flat = {
  id: 'disb-aaaaaaaa-0000-4000-8000-0000000000d1',
  amount: 250_000,
  status: 'SUCCEEDED',
  reference_id: 'wd-88',
  account_number: '1234567890',
  account_holder_name: 'Sari Dewi',
}
const { account_number, account_holder_name, ...bare } = flat
const nested = { ...bare, channel_properties: { account_number, account_holder_name } }
const payout = { about: 'payout', payoutId: flat.id } as const

const table: [string, unknown, ReturnType<typeof readDelivery>][] = [
  ['the documented, nested shape', { event: 'payout.failed', data: nested }, payout],
  ['an event of the family that is new', { event: 'payout.cancelled', data: flat }, payout],
  ['a payout without an id', { event: 'payout.failed', data: {} }, { about: 'odd_payout', event: 'payout.failed' }],
  [
    'an id that is a path',
    { event: 'payout.failed', data: { id: '../balance' } },
    { about: 'odd_payout', event: 'payout.failed' },
  ],
  [
    'payouts v3 without an id',
    { event: 'v3_payout.succeeded', data: { payout_id: '', id: null } },
    { about: 'odd_payout', event: 'v3_payout.succeeded' },
  ],
  ['a payment', { event: 'payment.capture', data: { id: 'py-1' } }, { about: 'other' }],
  ['no event', { data: flat }, { about: 'other' }],
  ['a list', [flat], { about: 'other' }],
]

test.each(table)('the parser of Xendit webhooks reads %s', (_, delivery, hint) => {
  const body = JSON.stringify(delivery)
  expect(readDelivery(body)).toEqual(hint)
  expect(readDelivery(keptDelivery(body))).toEqual(hint)
})

test('the parser of Xendit webhooks ignores text that is not JSON', () => {
  expect(readDelivery('payout.succeeded')).toEqual({ about: 'other' })
})
