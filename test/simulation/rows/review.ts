import { rowsOf } from './rows'
import type { StandIn } from './table'

// This world has no operators.

type Review = typeof import('../../../services/payments/review/resolution.store')

export const recordOrder: StandIn<Review['recordOrder']> = async () => undefined
export const findOrders: StandIn<Review['findOrders']> = async () => []

export const findSeconds: StandIn<Review['findSeconds']> = async (db, paymentId) =>
  rowsOf(db)
    .anomalies.where((row) => row.kind === 'paid_twice' && row.paymentId === paymentId)
    .map(({ object, currency, amountMinor }) => ({
      providerPaymentId: object,
      currency: currency ?? null,
      minor: amountMinor ?? null,
    }))
