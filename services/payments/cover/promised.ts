import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'

type PromiseColumns = Record<'state' | 'reason' | 'creditedAt' | 'providerPaymentId', SQLWrapper>

/**
 * AUSD is promised and not on the chain yet: a checkout that may be paid, money that arrived, late
 * money without a rate, and what a person has to see to; not money in which we promised nothing.
 * The index is of the same words, so that what is promised can be summed up for every top-up.
 */
export const promised = ({ state, reason, creditedAt, providerPaymentId }: PromiseColumns): SQL =>
  sql`(${state} in ('opening', 'awaiting_payment', 'paid') or ${reason} = 'awaiting_rate' or (${state} = 'review' and ${creditedAt} is null and ${providerPaymentId} is not null and ${reason} not in ('amount_differs', 'currency_differs')))`
