export const days = (count: number) => `now() - interval '${count} days'`
export const done = (schema: string, consumer: string, id: string, doneAt: string) =>
  `insert into ${schema}.inbox (consumer, message_id, done_at) values ('${consumer}', '${id}', ${doneAt})`
const dead = (schema: string, consumer: string, id: string, redrivenAt: string) =>
  `insert into ${schema}.dead_letter (consumer, message_id, subject, payload, reason, died_at, redriven_at)
   values ('${consumer}', '${id}', 's', '{}', 'r', ${days(300)}, ${redrivenAt})`
const sent = (schema: string, payload: object, publishedAt: string, id = 'm') =>
  `insert into ${schema}.outbox (id, subject, payload, created_at, published_at)
   values ('${id}', 's', '${JSON.stringify(payload)}', ${days(300)}, ${publishedAt})`
const paymentId = `pay_${'a'.repeat(22)}`
const payment = (state: string, more: Record<string, string> = {}) => {
  const values = {
    id: `'${paymentId}'`,
    kind: `'topup'`,
    state: `'${state}'`,
    wallet: `'0x1'`,
    pair: `'USD/IDR'`,
    currency: `'IDR'`,
    account: `'ID'`,
    rate_minor_per_usd: '1',
    fiat_minor: '1',
    ausd_micro: '1',
    quote_id: `'q'`,
    request_fingerprint: `'t'`,
    provider_payment_id: `'py'`,
    checkout_url: `'u'`,
    created_at: days(400),
    ...more,
  }
  return `insert into payments.payments (${Object.keys(values)}) values (${Object.values(values)})`
}
const cashout = (state: string, nextCheckAt = 'null') =>
  `insert into payouts.payouts (id, wallet, state, rate_minor_per_usd, ausd_micro, fiat_minor, quote_id, request_fingerprint,
     authorizer, authorization_nonce, "authorization", channel_code, bank_details, bank_details_key_id, next_check_at)
   values ('p', '0x1', '${state}', 1, 1, 1, 'q', 't', '0x1', 'n', '{}', 'c', 'b', 'k', ${nextCheckAt})`
const operation = (state: string, watchAt = 'null') =>
  `insert into chain_relayer.operation (id, kind, cause, wallet, payload, content_hash, leaves_micro, state, watch_at)
   values ('o', 'take', 'c', '0x1', '{}', 'h', 0, '${state}', ${watchAt})`
const identity = (checkAt: string, failedAt = 'null') =>
  `insert into gateway.identities (wallet, state, provider, decided_at, check_at, failed_at)
   values ('0x1', 'verified', 'p', now(), ${checkAt}, ${failedAt})`
const cursor = (state: string, movedAt: string) =>
  `insert into indexer_reader.cursors (generation, state, chain_id, contract, deploy_block, block_number,
     block_time_seconds, sequence, complete, moved_at)
   values (1, '${state}', 1, 'c', 0, 0, 0, 0, true, ${movedAt})`
const event = `insert into indexer_reader.events values (1, 1, 1, '0x1', 'n', '{}', '0x2', 1)`
export const run = (whole: boolean, endedAt: string) =>
  `insert into books.runs (started_at, ended_at, whole, items, open) values (now(), ${endedAt}, ${whole}, 0, 0)`
const signed = (createdAt: string) =>
  `insert into chain_relayer.signed_amounts values ('0x1', '0x2', 'credit', 1, ${createdAt})`

const revertedGas = (createdAt: string) =>
  `insert into chain_relayer.reverted_gas values ('0x1', 1, '0x2', 1, ${createdAt})`

const refId = `${paymentId}.1`
const wallets = (retryAt: string) =>
  `insert into payments.wallets (wallet, frozen, revision, retry_at) values ('0x1', true, 1, ${retryAt})`

type Row = readonly [what: string, table: string, stays: boolean, ...statements: string[]]
export const cases: readonly Row[] = [
  [
    'a done message of longer ago than its stream keeps one',
    'payments.inbox',
    false,
    done('payments', 'payments', 'm', days(98)),
  ],
  [
    'a done message that its stream may still hand out',
    'payments.inbox',
    true,
    done('payments', 'payments', 'm', days(96)),
  ],
  [
    'an old order, of a stream that keeps 30 days',
    'chain_relayer.inbox',
    false,
    done('chain_relayer', 'chain-relayer', 'm', days(38)),
  ],
  [
    'an order of less than 37 days ago',
    'chain_relayer.inbox',
    true,
    done('chain_relayer', 'chain-relayer', 'm', days(36)),
  ],
  [
    'an old message whose dead letter is open',
    'payouts.inbox',
    true,
    done('payouts', 'payouts', 'm', days(300)),
    dead('payouts', 'payouts', 'm', 'null'),
  ],
  [
    'an old message whose dead letter was redriven',
    'payouts.inbox',
    false,
    done('payouts', 'payouts', 'm', days(300)),
    dead('payouts', 'payouts', 'm', days(1)),
  ],
  ['an old message that was never done', 'gateway.inbox', true, done('gateway', 'gateway', 'm', 'null')],
  ['a run of the books', 'payments.inbox', true, done('payments', 'books', 'opening', days(3_000))],
  ['a consumer that no rule names', 'payments.inbox', true, done('payments', 'other', 'm', days(3_000))],
  ['an open dead letter', 'payments.dead_letter', true, dead('payments', 'payments', 'm', 'null')],
  ['a dead letter redriven lately', 'payments.dead_letter', true, dead('payments', 'payments', 'm', days(96))],
  ['a dead letter redriven long ago', 'payments.dead_letter', false, dead('payments', 'payments', 'm', days(98))],
  [
    'the order of a payment that was credited',
    'payments.outbox',
    false,
    payment('credited'),
    sent('payments', { refId }, days(31)),
  ],
  [
    'the same of less than 30 days ago',
    'payments.outbox',
    true,
    payment('credited'),
    sent('payments', { refId }, days(29)),
  ],
  [
    'a charge of a payment in review',
    'payments.outbox',
    true,
    payment('review'),
    sent('payments', { paymentId }, days(300)),
  ],
  [
    'the order of a payment that is not on the chain',
    'payments.outbox',
    true,
    payment('paid'),
    sent('payments', { refId }, days(300)),
  ],
  [
    'the order of a settlement on hold',
    'payments.outbox',
    true,
    payment('repaid', { held: 'true' }),
    sent('payments', { refId }, days(300)),
  ],
  [
    'the order of a settlement after its hold',
    'payments.outbox',
    false,
    payment('repaid', { held: 'true', hold_ended_at: days(90) }),
    sent('payments', { refId }, days(300)),
  ],
  ['a message about a payment that is not there', 'payments.outbox', true, sent('payments', { refId }, days(300))],
  [
    'a message that was never published',
    'payments.outbox',
    true,
    payment('credited'),
    sent('payments', { refId }, 'null'),
  ],
  [
    'a freeze that the chain has',
    'payments.outbox',
    false,
    wallets('null'),
    sent('payments', { wallet: '0x1' }, days(31)),
  ],
  [
    'a freeze that the chain has not confirmed',
    'payments.outbox',
    true,
    wallets('now()'),
    sent('payments', { wallet: '0x1' }, days(31)),
  ],
  [
    'an order of a cash-out that the bank paid',
    'payouts.outbox',
    false,
    cashout('paid'),
    sent('payouts', { payoutId: 'p' }, days(31)),
  ],
  [
    'the same while the bank may send it back',
    'payouts.outbox',
    true,
    cashout('paid', 'now()'),
    sent('payouts', { payoutId: 'p' }, days(31)),
  ],
  ['a return that failed', 'payouts.outbox', true, cashout('returning'), sent('payouts', { payoutId: 'p' }, days(31))],
  [
    'the outcome of a settled operation',
    'chain_relayer.outbox',
    false,
    operation('settled'),
    sent('chain_relayer', { operationId: 'o' }, days(31)),
  ],
  [
    'the failure of a take that may still happen',
    'chain_relayer.outbox',
    true,
    operation('failed', 'now()'),
    sent('chain_relayer', { operationId: 'o' }, days(31)),
  ],
  [
    'the order of a flag that is on the chain',
    'gateway.outbox',
    false,
    identity('null'),
    sent('gateway', { wallet: '0x1' }, days(31)),
  ],
  [
    'the order of a flag that is awaited',
    'gateway.outbox',
    true,
    identity('now()'),
    sent('gateway', { wallet: '0x1' }, days(31)),
  ],
  [
    'the order of a flag that the relayer gave up',
    'gateway.outbox',
    true,
    identity('null', 'now()'),
    sent('gateway', { wallet: '0x1' }, days(31)),
  ],
  ['gas paid for a wallet last year', 'chain_relayer.reverted_gas', false, revertedGas(days(300))],
  ['gas paid for a wallet this week', 'chain_relayer.reverted_gas', true, revertedGas(days(6))],
  ['a signature of last year', 'chain_relayer.signed_amounts', false, signed(days(300))],
  ['a signature of this week', 'chain_relayer.signed_amounts', true, signed(days(6))],
  ['an event of a generation that serves no more', 'indexer_reader.events', false, cursor('retired', days(2)), event],
  ['an event of the generation that serves', 'indexer_reader.events', true, cursor('serving', days(2)), event],
  ['the cursor of a generation that serves no more', 'indexer_reader.cursors', true, cursor('retired', days(2))],
  ['an old reconciliation', 'books.runs', false, run(false, days(31))],
  ['an old reconciliation from the beginning', 'books.runs', true, run(true, days(310))],
]
