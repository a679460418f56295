import { bankDetailsDays } from '#infra/operations/pruning/prune'

export type Personal = {
  readonly what: string
  /**
   * Columns as `schema.table.column`, message fields as `subject:field`; `*` is any table or
   * subject.
   */
  readonly places: readonly string[]
  readonly why: string
  readonly how: string
}

/** List of personal data. A test fails for a column or field that is neither here nor plain. */
export const personalData: readonly Personal[] = [
  {
    what: 'wallet address',
    places: [
      '*.wallet',
      '*.approvals.beneficiary',
      '*:linkedTo',
      '*.authorizer',
      '*.to',
      '*.key',
      '*:wallet',
      '*:from',
      '*:to',
    ],
    why: 'Key of the user.',
    how: 'A pseudonym, public on the chain. Kept permanently.',
  },
  {
    what: 'bank account: number, holder name, bank',
    places: [
      'payouts.payouts.bank_details',
      'payouts.payouts.channel_code',
      '*:accountNumber',
      '*:digits',
      '*:accountHolderName',
      '*:channelCode',
    ],
    why: 'The payout is ordered again until a bank has accepted it; a check of the account asks the provider.',
    how:
      'Sealed (AES-256-GCM) with a key outside the database; number and name are emptied ' +
      `${bankDetailsDays} days after the end of the cash-out (\`BANK_DETAILS_KEPT_DAYS\`). That is as long as the law wants to know who was paid (Malaysia six years, Indonesia five), so an erasure leaves the sealed details of paid cash-outs, which users and operators no longer see. No stream carries them. Only payouts has the key. It opens them for the bank, and for the user: whole in the export, the last four digits of the number in the activity.`,
  },
  {
    what: 'bank account: keyed hash of bank and number',
    places: ['payouts.payouts.account_mark', 'payouts.account_checks.account_mark'],
    why: 'The daily limits on cash-outs and account checks also hold per bank account.',
    how:
      'HMAC with a key outside the database. Emptied with the bank account, and by an erasure; that of a ' +
      'check is removed after a day.',
  },
  {
    what: 'bank account that operators refuse: keyed hashes, bank',
    places: [
      'payouts.refused_accounts.account',
      'payouts.refused_accounts.marks',
      'payouts.refused_accounts.channel_code',
      'payouts.account.find:account',
      'payouts.account.refuse:account',
    ],
    why: 'A bank account used for fraud, or named by an authority, is not paid, whichever wallet asks.',
    how:
      'HMAC with a key outside the database; it names no wallet. Kept permanently, also after an erasure: the prevention of fraud ' +
      'and an order of an authority outlast the account of the user, who could otherwise end a refusal by an erasure.',
  },
  {
    what: 'account check: verdict, and keyed hash of bank, number and name',
    places: ['payouts.account_checks.verdict', 'payouts.account_checks.request_mark'],
    why: 'A repeated check is recognised: it counts once and gets the same verdict.',
    how: 'HMAC with a key outside the database. Removed after a day. The name at the bank is not stored.',
  },
  {
    what: 'signed transfer',
    places: ['payouts.payouts.authorization', 'chain_relayer.operation.payload', '*:signature', '*:text'],
    why: 'Proof of the order; submitted to the chain.',
    how: 'Public on the chain. Kept permanently.',
  },
  {
    what: 'terms of service: version that was accepted',
    places: ['gateway.accepted_terms.version'],
    why: 'Shows that the user accepted them, and when.',
    how: 'Kept permanently, as the contract with the user is.',
  },
  {
    what: 'country of residence',
    places: ['gateway.users.country'],
    why: 'Decides the currency that the app asks for.',
    how: 'Kept until the user changes it or is erased.',
  },
  {
    what: 'identity: verdict, progress, reference at the provider',
    places: [
      'gateway.identities.state',
      'gateway.identities.provider_ref',
      'gateway.identity_links.provider_ref',
      'gateway.identity_rechecks.progress',
    ],
    why: 'Top-ups and sends need an approval, which is rechecked permanently.',
    how: 'Kept until the user is erased. Names, birthdays and documents stay with the provider.',
  },
  {
    what: 'other wallets of the person, by the identity provider or an operator',
    places: ['gateway.identities.same_as', 'gateway.identities.named', 'gateway.persons.linked_to'],
    why: 'A person has one credit record, with one wallet.',
    how:
      'Wallets only, for operators: they are not in `GET /me/export`, because the other one may be of ' +
      "somebody else. The provider's answers are emptied when the user is erased, the decisions of " +
      'operators are kept, so that no erasure starts a second record.',
  },
  {
    what: 'decision of an operator about the person of a wallet',
    places: ['gateway.persons.ruling'],
    why: 'A second wallet is verified only if an operator allows it.',
    how: 'Kept permanently, as the time of the first verification is.',
  },
  {
    what: "payment: channel, the payer's bank or wallet, the payer's receipt number, checkout page, ids at the provider",
    places: [
      'payments.payments.channel',
      'payments.payments.issuer',
      '*.bank_receipt',
      '*:receipt',
      'payments.payments.checkout_id',
      'payments.payments.checkout_url',
      'payments.payments.payment_request_id',
      'payments.payments.provider_payment_id',
      'payments.refunds.provider_payment_id',
      'payments.refund_orders.provider_payment_id',
      'payouts.payouts.provider_payout_id',
      'books.provider_moves.transaction_id',
      '*:transactionId',
      'payments.dispute.charge:disputeId',
      'payments.dispute.charge:charge',
      'books.provider_moves.reference',
      'books.provider_moves.product_id',
    ],
    why: 'Late money, refunds and chargebacks refer to a payment years later.',
    how: 'Names and cards of payers stay with the provider. The page is kept until the user is erased, the rest permanently.',
  },
  {
    what: 'copies of messages, chain events and commands with some of the above',
    places: [
      '*.outbox.payload',
      '*.dead_letter.payload',
      'indexer_reader.events.args',
      'ops.commands.target',
      'ops.proposals.request',
      'ops.proposals.line',
      'ops.proposals.terms',
      'webhooks.payments.>:body',
      'webhooks.identity.>:body',
    ],
    why: 'Delivery, repair, and the record of commands.',
    how: 'Kept as long as their table or stream, also after an erasure; dead letters until the user is erased. Webhooks are stored with event, ids, reference and status only.',
  },
  {
    what: 'operators: names, and the reasons they gave',
    places: [
      '*.set_by',
      '*.asked_by',
      '*.decided_by',
      '*.approvals.by',
      '*.approvals.second',
      'ops.proposals.signed_by',
      '*.owner',
      '*.said',
      '*.pauses.reason',
      'payouts.refused_accounts.reason',
      'payments.resolutions.reason',
      'books.breaks.reason',
      'ops.commands.reason',
      'ops.outcomes.reason',
      'chain_relayer.giveback_request.reason',
      '*:by',
      '*:reason',
    ],
    why: 'Shows who decided what.',
    how: 'For operators only. Notes on payments, freezes and givebacks are kept until the user is erased, the rest permanently.',
  },
]

/** Names that never identify a person: ids, hashes, states and technical fields. */
export const plainNames =
  'id kind state status pair currency event posting reverses consumer messageId subject last_error verb lane ' +
  'quote_id refId payment_id paymentId payout_id payoutId operation_id operationId refund_id deed_id command_id message_id ' +
  'request_id delivery_id deliveryId object_id operation_ids nonce authorization_nonce provider provider_status ' +
  'failure_code resolution lost_hold asset spending cashflow held_repayments payout_api bank_details_key_id hash tx_hash ' +
  'block_hash content_hash genesis_hash open_tx_hash close_tx_hash take_tx_hash return_tx_hash ' +
  // These are numbers and times whose names do not match `measured`.
  'micro minor amount total gas wei ref_sequence checks requests revision sweeps failures attempts attempt broadcasts ' +
  'tries repeats generation chain_id block_number at_seconds items position sequence line epoch score score_after cycle cycles_opened ' +
  'cycles_closed open block since day held held_by_operator hold_revision frozen frozen_by_operator is_second signed_by_contract complete verified defaulted whole number'

/** Places without personal data whose names may hold some elsewhere. */
export const plainPlaces = [
  '*.journal.account',
  '*.journal.item',
  '*.journal.asset',
  '*.listings.account',
  '*.listings.window',
  '*.request_fingerprint',
  '*:requestFingerprint',
  '*:cause',
  'relay.drip:asked',
  'relay.drip:refill',
  '*.person.read:table',
  'gateway.identity_anomalies.detail',
  'gateway.identities.failure',
  'payments.payments.method',
  'payments.payments.account',
  'payments.payments.reason',
  'payments.payments.topup_fees',
  'payments.refunds.origin',
  'payments.refund_orders.account',
  'payments.refund_orders.reference',
  'payments.refund.give-up:reference',
  'payments.returned_transfers.name',
  'payments.anomalies.account',
  'payments.anomalies.object',
  'payments.owed_to_cashouts.source',
  'payments.wallets.cleared_payments',
  'payments.wallets.cleared_revision',
  'payments.wallet.reclaim:clearing',
  'operations.console.find:when',
  'operations.console.find:channel',
  'payments.pauses.what',
  'payouts.pauses.what',
  'payouts.payouts.reason',
  'payouts.anomalies.object',
  'payouts.anomalies.says',
  'chain_relayer.pauses.what',
  'chain_relayer.giveback_request.refusal',
  'chain_relayer.signed_amounts.signer',
  'chain_relayer.signed_amounts.identity',
  'chain_relayer.signed_totals.signer',
  'chain_relayer.attempt.purpose',
  'chain_relayer.attempt.raw',
  'chain_relayer.lane.address',
  'chain_relayer.lane.holder',
  'chain_relayer.lane.fault',
  'chain_relayer.cursor.name',
  'chain_relayer.transaction.purpose',
  'chain_relayer.transaction.data',
  'chain_relayer.transaction.outcome',
  'chain_relayer.operation.cause',
  'chain_relayer.operation.reason',
  'indexer_reader.cursors.contract',
  'indexer_reader.cycles.outcome',
  'indexer_reader.events.name',
  'books.balances.place',
  'books.breaks.about',
  'books.breaks.explained_amount',
  'books.breaks.item',
  'books.breaks.rule',
  'books.checkpoints.source',
  'books.heartbeats.name',
  'books.names.item',
  'books.provider_moves.account',
  'books.provider_moves.type',
  'books.totals.account',
  'books.totals.source',
  'books.seals.journal',
  'books.seals.from_transaction',
  'books.seals.to_transaction',
  'books.seals.lines',
  '*.journal.booked_in',
  'ops.commands.cause',
  'ops.outcomes.outcome',
  'ops.proposals.signature',
  'ops.proposals.until',
  '*:seen',
  '*.approvals.command',
  '*.approvals.counts',
  '*.approvals.request_hash',
  'gateway.auto_repayments.outcome',
  'gateway.auto_repayments.reason',
  'gateway.auto_repayments.source',
  'gateway.dead_letter.reason',
  'payments.dead_letter.reason',
  'payouts.dead_letter.reason',
  'chain_relayer.dead_letter.reason',
  '*:token',
  'gateway.persons.deed',
  'gateway.persons.replaced',
]

const knownNames = new Set(plainNames.split(' '))
const measured = /_(?:at|at_seconds|time_seconds|until|to|before|minor|micro|wei|bps|per_usd|block|index|nonce|count)$/

export function isPlain(place: string): boolean {
  const name = place.split(/[.:](?=[^.:]*$)/)[1]!
  return knownNames.has(name) || measured.test(name) || holdsAny(plainPlaces, place)
}

export const holdsAny = (places: readonly string[], place: string): boolean =>
  places.some((pattern) => (pattern.startsWith('*') ? place.endsWith(pattern.slice(1)) : place === pattern))

export const holds = ({ places }: Personal, place: string): boolean => holdsAny(places, place)
