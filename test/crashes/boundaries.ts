// Where processes are killed. A boundary is named by what was done last.

/** What has been done, and what has not, when a process is killed at a boundary that the code names. */
export const meanings: Readonly<Record<string, string>> = {
  'gateway:order-read': 'an order was read and checked, its owner was not asked',
  'gateway:order-answered': 'its owner answered, the app was not',
  'gateway:delivery-verified': 'a delivery is authentic, and is not published',
  'gateway:delivery-recorded': 'it is published, its sender is not answered',
  'gateway:identity-decided': 'a verdict is written, not committed',
  'gateway:identity-found': 'the identity provider was asked, nothing is written',
  'gateway:drip-ordered': 'the coin is ordered, not committed',
  'pricing:quote-taken': 'a quote is taken, its taker is not answered',
  'payments:cover-reserved': 'AUSD is set aside, the quote is not taken',
  'payments:quote-taken': 'the quote is taken, the payment is not stored',
  'payments:row-stored': 'the payment is stored, the provider was not asked for a checkout',
  'payments:checkout-opened': 'the provider opened a checkout, its address is not stored',
  'payments:checkout-stored': 'its address is stored, nobody was told it',
  'payments:checkout-ended': 'the provider ended an earlier checkout, its row does not say so',
  'payments:settlement-replaced': 'the earlier settlement ended, the quote is not taken',
  'payments:payment-found': 'a checkout was asked for and is paid, nothing is written',
  'payments:paid-committed': 'that it is paid is committed, the credit is not published',
  'payments:row-of-list-received': 'a row of the list is committed, the reading goes on',
  'payments:hold-asked': 'the provider was asked for refunds within a hold, nothing is written',
  'payments:hold-cleared': 'the last check of a hold is committed, the hold goes on',
  'payments:hold-ended': 'the end of a hold is committed',
  'payments:extension-ordered': 'a longer hold is committed, not published',
  'payments:refund-decided': 'an operator decided on a refund, and was not answered',
  'payments:refund-ordered': 'a refund is wanted, its request is not counted',
  'payments:before-refund': 'the request is counted, the provider was not asked',
  'payments:refund-answered': 'the provider answered, nothing is written',
  'payments:refund-learned': 'what became of the refund is committed',
  'payouts:cover-reserved': 'rupiah are set aside, the quote is not taken',
  'payouts:quote-taken': 'the quote is taken, the cash-out is not stored',
  'payouts:row-stored': 'cash-out and take are stored, nothing is published',
  'payouts:taken': 'a taken cash-out is due, and not yet being paid',
  'payouts:paying-stored': 'it is being paid, the attempt is not counted',
  'payouts:before-provider': 'the attempt is counted, the provider was not asked',
  'payouts:provider-answered': 'the provider answered, nothing is written',
  'payouts:status-committed': 'what it answered is committed',
  'payouts:return-ordered': 'a return is committed, not published',
  'payouts:payout-found': 'a payout was asked for by its id, nothing is written',
  'payouts:payout-looked-up': 'payouts were looked up by our reference, nothing is written',
  'payouts:row-of-list-received': 'a row of the list is committed, the reading goes on',
  'chain-relayer:operation-stored': 'an order is stored, it has no nonce',
  'chain-relayer:transaction-signed': 'nonce and signature are written, not committed',
  'chain-relayer:transaction-stored': 'the transaction is stored, nobody has seen it',
  'chain-relayer:broadcast': 'a node has it, that is not noted',
  'chain-relayer:broadcast-noted': 'that it was sent is noted',
  'chain-relayer:attempt-stored': 'a dearer attempt is stored, not sent',
  'chain-relayer:final-before-commit': 'it is final, nothing is written',
  'chain-relayer:final': 'its end is committed, not published',
  'indexer-reader:span-written': 'a span of the chain is written, not committed',
}

/** Boundaries of the bus: every service passes them, for each subject. */
const busMeanings = [
  [/:published:/, 'the broker has the message, the outbox does not say so'],
  [/:found:/, 'what the message is about was asked for, nothing is written'],
  [/:took:/, 'what the message brought is committed, it is not acknowledged'],
] as const

export const meaningOf = (boundary: string): string =>
  meanings[boundary] ?? busMeanings.find(([name]) => name.test(boundary))?.[1] ?? 'unknown'

/** The reader of the chain moves no money. */
export const ofNoMoney: ReadonlySet<string> = new Set(['indexer-reader:span-written'])

/** From an operation to its end at the final chain. */
export const onChain = [
  ...['operation-stored', 'transaction-signed', 'transaction-stored', 'broadcast'],
  ...['broadcast-noted', 'final-before-commit', 'final'],
].map((name) => `chain-relayer:${name}`)

/** An order to the relayer, what it passes there, and its outcome on the way back. */
export const relayed = (by: string, kind: string, there: readonly string[] = []): string[] => [
  ...[`${by}:published:relay.${kind}`, `chain-relayer:took:relay.${kind}`, ...there],
  ...[`chain-relayer:published:relay.${kind}.settled`, `${by}:took:relay.${kind}.settled`],
]

/** A delivery of the payment provider, to its effect. */
export const delivered = (to: 'payments' | 'payouts'): string[] => [
  ...['gateway:delivery-verified', 'gateway:delivery-recorded'],
  ...[`${to}:found:webhooks.payments.>`, `${to}:took:webhooks.payments.>`],
]

/** A checkout, from the request to its address. */
export const checkedOut = (before: readonly string[] = []): string[] => [
  ...['gateway:order-read', ...before, 'pricing:quote-taken', 'payments:quote-taken'],
  ...['payments:row-stored', 'payments:checkout-opened', 'payments:checkout-stored'],
  'gateway:order-answered',
]
export const toppedUp = checkedOut(['payments:cover-reserved'])
const paidAnd = (kind: string) => [
  ...['payments:published:payments.paid', ...relayed('payments', kind, onChain)],
  'payments:published:payments.settled',
]
export const credited = paidAnd('credit')
export const repaid = paidAnd('repay')
export const heldToTheEnd = ['payments:hold-asked', 'payments:hold-cleared', 'payments:hold-ended']

/** A cash-out until its AUSD is in the treasury. */
export const taken = [
  ...['gateway:order-read', 'payouts:cover-reserved', 'pricing:quote-taken'],
  ...['payouts:quote-taken', 'payouts:row-stored', 'gateway:order-answered'],
  ...[...relayed('payouts', 'take', onChain), 'payouts:published:payouts.taken'],
]
/** Its order at the provider. */
export const atTheBank = [
  ...['payouts:taken', 'payouts:paying-stored', 'payouts:before-provider'],
  ...['payouts:provider-answered', 'payouts:status-committed'],
]
export const givenBack = [...relayed('payouts', 'return'), 'payouts:published:payouts.returned']
