import { bankDetailsDays } from '#infra/pruning/prune'

/** One kind of personal data, and every place that stores or carries it. */
export type Personal = {
  readonly what: string
  /**
   * Columns as `schema.table.column`, message fields as `subject:field`. A `*` stands for any table of any
   * service, or any subject.
   */
  readonly places: readonly string[]
  readonly why: string
  /** How it is protected, and how long it is kept. */
  readonly how: string
}

/** Every kind of personal data. A test fails for a column or field that is neither here nor `plain`. */
export const personalData: readonly Personal[] = [
  {
    what: 'wallet address',
    places: ['*.wallet', '*.authorizer', '*.to', '*.key', '*:wallet', '*:from', '*:to'],
    why: 'Key of the user.',
    how: 'A pseudonym, public on the chain. Kept permanently.',
  },
  {
    what: 'bank account: number, holder name, bank',
    places: [
      'payouts.payouts.bank_details',
      'payouts.payouts.channel_code',
      '*:accountNumber',
      '*:accountHolderName',
      '*:channelCode',
    ],
    why: 'The payout is ordered again until a bank has accepted it.',
    how:
      'Sealed (AES-256-GCM) with a key outside the database; number and name are emptied ' +
      `${bankDetailsDays} days after the end of the cash-out (\`BANK_DETAILS_KEPT_DAYS\`). No stream carries them.`,
  },
  {
    what: 'bank account: keyed hash of bank and number',
    places: ['payouts.payouts.account_mark'],
    why: 'The daily limit on cash-outs also holds per bank account.',
    how: 'HMAC with a key outside the database. Emptied with the bank account.',
  },
  {
    what: 'signed transfer',
    places: [
      'payouts.payouts.authorization',
      'chain_relayer.operation.payload',
      '*:signature',
      '*:text',
    ],
    why: 'Proof of the order; submitted to the chain.',
    how: 'Public on the chain. Kept permanently.',
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
    what: 'payment: channel, checkout page, ids at the provider',
    places: [
      'payments.payments.channel',
      'payments.payments.checkout_id',
      'payments.payments.checkout_url',
      'payments.payments.payment_request_id',
      'payments.payments.provider_payment_id',
      'payments.refunds.provider_payment_id',
      'payments.refund_orders.provider_payment_id',
      'payouts.payouts.provider_payout_id',
      'books.provider_moves.transaction_id',
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
      'ops.deeds.target',
      'webhooks.payments.>:body',
      'webhooks.identity.>:body',
    ],
    why: 'Delivery, repair, and the record of commands.',
    how: 'Kept as long as their table or stream; dead letters until the user is erased. Webhooks are stored with event, ids, reference and status only.',
  },
  {
    what: 'operators: names, and the reasons they gave',
    places: [
      ...['*.set_by', '*.asked_by', '*.decided_by', '*.owner', '*.said'],
      ...[
        '*.pauses.reason',
        'payments.resolutions.reason',
        'books.breaks.reason',
        'ops.deeds.reason',
      ],
      ...['chain_relayer.giveback_request.reason', '*:by', '*:reason'],
    ],
    why: 'Shows who decided what.',
    how: 'For operators only. Notes on payments, freezes and givebacks are kept until the user is erased, the rest permanently.',
  },
]

/** Columns and fields that say nothing about a person: by their name wherever they are, or by their place. */
export const plain: ReadonlySet<string> = new Set([
  ...[
    'id',
    'kind',
    'state',
    'status',
    'pair',
    'currency',
    'method',
    'account',
    'asset',
    'event',
    'item',
  ],
  ...[
    'posting',
    'reverses',
    'consumer',
    'message_id',
    'messageId',
    'subject',
    'last_error',
    'request_id',
  ],
  ...[
    'quote_id',
    'taken_by',
    'takenBy',
    'tx_hash',
    'block_hash',
    'delivery_id',
    'deliveryId',
    'provider',
  ],
  ...[
    'source',
    'window',
    'object',
    'purpose',
    'lane',
    'nonce',
    'holder',
    'fault',
    'hash',
    'raw',
    'data',
  ],
  ...[
    'outcome',
    'operation_ids',
    'cause',
    'content_hash',
    'authorization_nonce',
    'signer',
    'identity',
  ],
  ...[
    'spending',
    'contract',
    'genesis_hash',
    'open_tx_hash',
    'close_tx_hash',
    'rule',
    'place',
    'type',
  ],
  ...[
    'cashflow',
    'deed_id',
    'verb',
    'operation_id',
    'operationId',
    'refusal',
    'payment_id',
    'paymentId',
  ],
  ...['payout_id', 'payoutId', 'refId', 'refund_id', 'failure_code', 'resolution', 'origin'],
  ...[
    'bank_details_key_id',
    'provider_status',
    'object_id',
    'take_tx_hash',
    'return_tx_hash',
    'payout_api',
    'address',
  ],
  ...['table', 'held_repayments', 'payments.pauses.what', 'payouts.pauses.what'],
  ...[
    'chain_relayer.pauses.what',
    'gateway.identity_anomalies.detail',
    'gateway.identities.failure',
  ],
  ...['payouts.anomalies.says', 'chain_relayer.cursor.name', 'indexer_reader.events.name'],
  ...['books.breaks.about', 'payments.refund_orders.reference'],
  ...['payments.payments.reason', 'payouts.payouts.reason', 'chain_relayer.operation.reason'],
  ...['gateway.dead_letter.reason', 'payments.dead_letter.reason', 'payouts.dead_letter.reason'],
  ...['chain_relayer.dead_letter.reason'],
])

/** True if the place is one of the entry's. */
export const holds = ({ places }: Personal, place: string): boolean =>
  places.some((pattern) =>
    pattern.startsWith('*') ? place.endsWith(pattern.slice(1)) : place === pattern,
  )
