import { describe, expect, test } from 'bun:test'
import { endedCashouts, endedPayments } from '#infra/operations/pruning/subjects'
import type { Limits } from '#platform/metrics/state-limits'
import { limits as paymentLimits } from '../../services/payments/payment'
import { limits as cashoutLimits } from '../../services/payouts/cashout'

const resting = (limits: Limits<string>) => Object.keys(limits).filter((state) => 'rests' in limits[state]!)

describe('outbox rows may be pruned in the final states of their service', () => {
  test('for a payment: every final state but review', () => {
    expect([...endedPayments, 'review'].sort()).toEqual(resting(paymentLimits).sort())
  })

  test('for a cash-out: every final state', () => {
    expect([...endedCashouts].sort() as string[]).toEqual(resting(cashoutLimits).sort())
  })
})
