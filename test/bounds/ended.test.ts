import { describe, expect, test } from 'bun:test'
import { endedCashouts, endedPayments } from '#infra/pruning/subjects'
import type { Limits } from '#shared/overdue'
import { limits as paymentLimits } from '../../services/payments/payment'
import { limits as cashoutLimits } from '../../services/payouts/cashout'

/** States in which nothing is awaited, by the table of the service itself. */
const resting = (limits: Limits<string>) =>
  Object.keys(limits).filter((state) => 'rests' in limits[state]!)

describe('a message goes once its subject is at rest, by the words of its own service', () => {
  test('of a payment: every state of rest but the one that waits for a person', () => {
    expect([...endedPayments, 'review'].sort()).toEqual(resting(paymentLimits).sort())
  })

  test('of a cash-out: every state of rest', () => {
    expect([...endedCashouts].sort() as string[]).toEqual(resting(cashoutLimits).sort())
  })
})
