import type { StandIn } from './table'

// Stands in for refunds that an operator ordered: there are no operators here.

type Review = typeof import('../../../services/payments/review/review.store')

export const noteOrder: StandIn<Review['noteOrder']> = async () => undefined
export const findOrders: StandIn<Review['findOrders']> = async () => []
