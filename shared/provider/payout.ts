/** API version from docs.xendit.co/apidocs/create-payout-v3; other endpoints use `2025-09-01`. */
export const payoutsV3Version = '2025-09-09'

/** Status of a payout. An unrecognised status of the provider is `unknown`, never a success. */
export type PayoutStatus = 'pending' | 'succeeded' | 'refused' | 'reversed' | 'unknown'

/** Statuses from the lifecycle page, the v2 and v3 references and the SDK; the list is not exhaustive. */
const statuses: ReadonlyMap<string, PayoutStatus> = new Map([
  ['ACCEPTED', 'pending'],
  ['REQUESTED', 'pending'],
  ['LOCKED', 'pending'],
  ...['PENDING_COMPLIANCE_ASSESSMENT', 'PENDING_COMPLIANCE_REVIEW', 'ROUTING', 'READY'].map(
    (word) => [word, 'pending'] as const,
  ),
  ['SUCCEEDED', 'succeeded'],
  ['FAILED', 'refused'],
  ['CANCELLED', 'refused'],
  ['COMPLIANCE_REJECTED', 'refused'],
  ['REJECTED', 'refused'],
  ['EXPIRED', 'refused'],
  ['REVERSED', 'reversed'],
])

/** Returns the status that a word of the provider means. */
export const payoutStatusFrom = (word: string): PayoutStatus => statuses.get(word) ?? 'unknown'

type Amounts<A, C> = {
  readonly source_amount?: A
  readonly source_currency?: C
  readonly destination_amount?: A
  readonly destination_currency?: C
}

/** Returns the amount that arrives and its currency. The destination amount counts, because the source amount may include fees. */
export const arrivingOf = <A, C>(payout: Amounts<A, C>): [A | undefined, C | undefined] =>
  payout.destination_amount !== undefined && payout.destination_amount !== null
    ? [payout.destination_amount, payout.destination_currency]
    : [payout.source_amount, payout.source_currency]
