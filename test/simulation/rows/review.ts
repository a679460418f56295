import type { StandIn } from './table'

// Stand-in for refunds ordered by an operator; this world has no operators.

type Review = typeof import('../../../services/payments/review/review.store')

export const noteOrder: StandIn<Review['noteOrder']> = async () => undefined
export const findOrders: StandIn<Review['findOrders']> = async () => []
