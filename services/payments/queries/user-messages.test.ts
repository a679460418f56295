import { describe, expect, test } from 'bun:test'
import { schemaReader } from '#platform/schema'
import { ActivityItem, activityStatuses } from '#shared/messages/activity'
import { paymentStates, reasons } from '../payment'
import type { ListedPayment } from './activity.store'
import { userMessages } from './user-messages'

type Status = Parameters<typeof userMessages>[1]
const at = new Date('2026-11-21T07:00:00.000Z')
const payment = (over: Partial<ListedPayment>): ListedPayment => ({
  id: 'pay_Zk3nT0a7yQm1c5VbXw9uRd',
  kind: 'topup',
  state: 'paid',
  reason: null,
  pair: 'USD/IDR',
  fiatMinor: 50_000n,
  feeMinor: 0n,
  rateMinorPerUsd: 16_250n,
  refundedMinor: 0n,
  ausdMicro: 3_076_923n,
  method: 'qr',
  channel: 'QRIS',
  issuer: null,
  bankReceipt: null,
  checkoutUrl: null,
  expiresAt: null,
  txHash: null,
  lateRateMinorPerUsd: null,
  createdAt: at,
  updatedAt: at,
  held: false,
  creditedAt: null,
  holdEndedAt: null,
  lostHold: null,
  missingMicro: null,
  ...over,
})
const words = (status: Status, over: Partial<ListedPayment> = {}) =>
  userMessages(payment({ state: status, ...over }), status)

describe('the activity message of a payment', () => {
  test.each<[Status, Partial<ListedPayment>, string | null, string | undefined]>([
    ['awaiting_payment', {}, 'pay', undefined],
    ['expired', {}, null, 'not_paid_in_time'],
    ['expired', { state: 'awaiting_payment' }, 'wait', undefined],
    ['expired', { reason: 'awaiting_rate' }, 'wait', 'awaiting_rate'],
    ['replaced', { reason: 'replaced' }, null, 'replaced'],
    ['replaced', { reason: 'awaiting_rate' }, 'wait', 'awaiting_rate'],
    ['paid', {}, 'wait', undefined],
    ['held', { held: true }, 'wait', undefined],
    ['credited', {}, null, undefined],
    ['credited', { lateRateMinorPerUsd: 16_900n }, null, 'paid_late'],
    ['credited', { reason: 'made_good' }, null, 'made_good'],
    ['credited', { lostHold: 'frozen' }, 'wait', undefined],
    ['credited', { lostHold: 'cleared' }, null, undefined],
    ['repaid', { kind: 'settlement' }, null, undefined],
    ['repaid', { kind: 'settlement', held: true, creditedAt: at }, 'wait', undefined],
    ['repaid', { kind: 'settlement', held: true, creditedAt: at, holdEndedAt: at }, null, undefined],
    ['revoking', { reason: 'refunded_during_hold' }, 'wait', 'refunded_during_hold'],
    ['revoked', { reason: 'refunded_during_hold' }, null, 'refunded_during_hold'],
    ['refunded', { reason: 'refunded_before_credit' }, null, 'refunded_before_credit'],
    ['refunding', { reason: 'paid_twice' }, 'wait', 'paid_twice'],
    ['accepted', { reason: 'amount_differs' }, null, 'amount_differs'],
    ['review', { reason: 'amount_differs' }, 'contact support', 'amount_differs'],
    [
      'review',
      { reason: 'refunded_after_credit', missingMicro: '1538462' },
      'contact support',
      'refunded_after_credit',
    ],
    ['review', { reason: 'refunded_after_credit', missingMicro: '0' }, null, 'refunded_after_credit'],
    ['review', { reason: 'refunded_after_credit' }, 'contact support', 'refunded_after_credit'],
    ['review', { reason: 'paid_twice', missingMicro: '0' }, 'contact support', 'paid_twice'],
  ])('%s (%#)', (status, over, nextAction, reason) => {
    const said = words(status, over)
    expect<unknown[]>([said.nextAction, said.reason]).toEqual([nextAction, reason])
    expect(said.sentence).toMatch(/^[A-Z].*\.$/)
  })

  test('states the missing amount of money reversed after its hold', () => {
    const lost = { reason: 'refunded_after_credit', missingMicro: '1538462' } as const
    expect(words('review', lost).sentence).toContain('You owe 1.538462 AUSD')
  })

  test('states that a credited top-up is refunded as a whole, and of another payment only the part beyond it', () => {
    const whole = 'Support is refunding this payment, because you gave its AUSD back.'
    expect(words('refunding', { creditedAt: at }).sentence).toBe(whole)
    expect(words('refunding', { creditedAt: at, reason: 'refund_undone' }).sentence).toEndWith(whole)
    for (const over of [{ creditedAt: at, reason: 'paid_twice' }, { reason: 'amount_differs' }] as const)
      expect(words('refunding', over).sentence).toContain('the amount that could not be applied')
  })

  test('states both a reason and a late payment', () => {
    const late = { reason: 'refunded_in_part', lateRateMinorPerUsd: 16_900n } as const
    const { reason, sentence } = words('credited', late)
    expect(reason).toBe('refunded_in_part')
    for (const part of ['Part of the payment was refunded', 'paid after the checkout closed'])
      expect(sentence).toContain(part)
  })
})

test('every shown reason and state has its own message', () => {
  const read = schemaReader(ActivityItem)
  const { id, kind, pair, ausdMicro } = payment({})
  for (const status of paymentStates.filter((state): state is Status => state !== 'opening'))
    for (const reason of [null, ...reasons]) {
      const times = { createdAt: at.toISOString(), updatedAt: at.toISOString() }
      const item = { id, kind, status, pair, ausd: `${ausdMicro}`, ...times }
      expect(read({ ...item, ...words(status, { reason }) })).not.toHaveProperty('fault')
    }
  const shown = new Set<string>([...activityStatuses.topup, ...activityStatuses.settlement])
  expect([...shown].sort()).toEqual(paymentStates.filter((state) => state !== 'opening').sort())
})
