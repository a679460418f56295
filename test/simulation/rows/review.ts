import { rowsOf } from './rows'
import type { StandIn } from './table'

// This world has no operators.

type Review = typeof import('../../../services/payments/review/review.store')

export const noteOrder: StandIn<Review['noteOrder']> = async () => undefined
export const findOrders: StandIn<Review['findOrders']> = async () => []

export const findSeconds: StandIn<Review['findSeconds']> = async (db, paymentId) =>
  rowsOf(db)
    .anomalies.where((row) => row.kind === 'paid_twice' && row.paymentId === paymentId)
    .map(({ object, currency, amountMinor }) => ({
      providerPaymentId: object,
      currency: currency ?? null,
      minor: amountMinor ?? null,
    }))
