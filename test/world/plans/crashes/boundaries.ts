// A boundary is named after the step just done.

export const meanings: Readonly<Record<string, string>> = {
  'gateway:order-read': 'request read and validated, not passed to its service',
  'gateway:order-answered': 'its service responded, the app has no response',
  'gateway:delivery-verified': 'webhook authenticated, not published',
  'gateway:delivery-recorded': 'webhook published, its sender has no response',
  'gateway:identity-decided': 'verdict written, not committed',
  'gateway:identity-found': 'result read from the identity provider, nothing written',
  'gateway:drip-ordered': 'drip ordered, not committed',
  'gateway:repayment-ordered': 'automatic repayment ordered, not committed',
  'pricing:quote-taken': 'quote taken, the caller has no response',
  'payments:row-stored': 'payment stored, its quote not taken',
  'payments:quote-taken': 'quote taken, no checkout requested',
  'payments:checkout-opened': 'checkout open at the provider, its URL not stored',
  'payments:checkout-stored': 'checkout URL stored, the app has no response',
  'payments:checkout-ended': 'checkout cancelled at the provider, its row unchanged',
  'payments:checkout-end-stored': 'checkout cancelled at the provider, its row ended',
  'payments:payment-found': 'checkout looked up and paid, nothing written',
  'payments:paid-committed': 'state paid committed, the credit not published',
  'payments:row-of-list-received': 'one transaction of the list committed, the rest not read',
  'payments:hold-asked': 'refunds of a held payment looked up, nothing written',
  'payments:hold-cleared': 'last check of a hold committed, the hold not over',
  'payments:hold-ended': 'end of a hold committed',
  'payments:extension-ordered': 'hold extension committed, not published',
  'payments:refund-decided': 'operator’s refund committed, the operator has no response',
  'payments:refund-ordered': 'refund due, the attempt not counted',
  'payments:before-refund': 'attempt counted, no refund requested',
  'payments:refund-answered': 'provider responded, nothing written',
  'payments:refund-learned': 'refund outcome committed',
  'payouts:row-stored': 'cash-out stored, its quote not taken',
  'payouts:quote-taken': 'quote taken, the AUSD not ordered',
  'payouts:take-ordered': 'take committed, not published',
  'payouts:taken': 'AUSD taken, the payout not started',
  'payouts:before-provider': 'state paying and attempt committed, no payout requested',
  'payouts:provider-answered': 'provider responded, nothing written',
  'payouts:status-committed': 'provider’s response committed',
  'payouts:return-ordered': 'return committed, not published',
  'payouts:payout-found': 'payout looked up by id, nothing written',
  'payouts:payout-looked-up': 'payouts looked up by our reference, nothing written',
  'payouts:row-of-list-received': 'one transaction of the list committed, the rest not read',
  'chain-relayer:operation-stored': 'operation stored, no nonce assigned',
  'chain-relayer:transaction-signed': 'nonce and signature written, not committed',
  'chain-relayer:transaction-stored': 'transaction committed, not broadcast',
  'chain-relayer:broadcast': 'node accepted the transaction, not recorded',
  'chain-relayer:broadcast-noted': 'broadcast recorded',
  'chain-relayer:attempt-stored': 'attempt with a higher fee stored, not broadcast',
  'chain-relayer:final-before-commit': 'transaction final, nothing written',
  'chain-relayer:final': 'outcome committed, not published',
  'indexer-reader:span-written': 'block range written, not committed',
}

/** Boundaries that every service passes for each subject. */
const busMeanings = [
  [/:published:/, 'broker confirmed the message, the outbox row unchanged'],
  [/:found:/, 'subject of the message looked up, nothing written'],
  [/:took:/, 'effect of the message committed, not acknowledged'],
] as const

export const meaningOf = (boundary: string): string =>
  meanings[boundary] ?? busMeanings.find(([name]) => name.test(boundary))?.[1] ?? 'unknown'

/** Boundaries of the chain reader, which moves no money. */
export const ofNoMoney: ReadonlySet<string> = new Set(['indexer-reader:span-written'])

/** Boundaries of an operation from its row to its final outcome. */
export const onChain = [
  'operation-stored',
  'transaction-signed',
  'transaction-stored',
  'broadcast',
  'broadcast-noted',
  'final-before-commit',
  'final',
].map((name) => `chain-relayer:${name}`)

/** Returns the boundaries of an order to the relayer up to its outcome; `there` has those in between. */
export const relayed = (by: string, kind: string, there: readonly string[] = []): string[] => [
  `${by}:published:relay.${kind}`,
  `chain-relayer:took:relay.${kind}`,
  ...there,
  `chain-relayer:published:relay.${kind}.settled`,
  `${by}:took:relay.${kind}.settled`,
]

export const delivered = (to: 'payments' | 'payouts'): string[] => [
  'gateway:delivery-verified',
  'gateway:delivery-recorded',
  `${to}:found:webhooks.payments.>`,
  `${to}:took:webhooks.payments.>`,
]

/** Returns the boundaries of a request up to its URL; `before` has those between quote and checkout. */
export const checkedOut = (before: readonly string[] = []): string[] => [
  'gateway:order-read',
  'payments:row-stored',
  'pricing:quote-taken',
  'payments:quote-taken',
  ...before,
  'payments:checkout-opened',
  'payments:checkout-stored',
  'gateway:order-answered',
]
export const toppedUp = checkedOut()
const paidAnd = (kind: string) => [
  'payments:published:payments.paid',
  ...relayed('payments', kind, onChain),
  'payments:published:payments.settled',
]
export const credited = paidAnd('credit')
export const repaid = paidAnd('repay')
export const heldToTheEnd = ['payments:hold-asked', 'payments:hold-cleared', 'payments:hold-ended']

/** Boundaries of a cash-out until its AUSD is in the treasury. */
export const taken = [
  'gateway:order-read',
  'payouts:row-stored',
  'pricing:quote-taken',
  'payouts:quote-taken',
  'payouts:take-ordered',
  'gateway:order-answered',
  ...relayed('payouts', 'take', onChain),
  'payouts:published:payouts.taken',
]
export const atTheBank = [
  'payouts:taken',
  'payouts:before-provider',
  'payouts:provider-answered',
  'payouts:status-committed',
]
export const givenBack = [...relayed('payouts', 'return'), 'payouts:published:payouts.returned']
