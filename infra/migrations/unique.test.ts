import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import postgres, { type Sql } from 'postgres'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'

// These tests show what Postgres itself refuses, without the services' locks and the triggers that run first.

let server: ScratchPostgres
let sql: Sql
beforeAll(async () => {
  server = await startScratchPostgres()
  sql = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  await sql`set session_replication_role = replica` // In this role, triggers and foreign keys do not run.
})
afterAll(async () => {
  await sql?.end({ timeout: 1 })
  await server?.[Symbol.asyncDispose]()
})

type Row = Record<string, unknown>
const hex = () => `0x${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex')}`

const fitting: Record<string, () => Row> = {
  'payments.payments': () => ({
    kind: 'settlement',
    state: 'opening',
    account: 'ID',
    currency: 'IDR',
    pair: 'USD/IDR',
  }),
  'payments.resolutions': () => ({ resolution: 'credit' }),
  'payouts.payouts': () => ({ state: 'taking' }),
  'chain_relayer.giveback_request': () => ({ tx_hash: hex() }),
}
for (const schema of ['payments', 'payouts', 'chain_relayer', 'books'])
  fitting[`${schema}.journal`] = () => ({ account: 'treasury', asset: 'AUSD' })

let counted = 0
function freshOf(type: string): unknown {
  counted += 1
  if (type === 'uuid') return crypto.randomUUID()
  if (type === 'boolean') return false
  if (type === 'jsonb') return sql.json({})
  if (type.startsWith('timestamp')) return new Date(Date.UTC(2026, 0, 1) + counted * 86_400_000)
  return type === 'text' ? `${counted}-${crypto.randomUUID()}` : counted
}

async function rowOf(table: string, columns: readonly string[]): Promise<Row> {
  const [schema, name] = table.split('.') as [string, string]
  const wanted = await sql<{ column: string; type: string }[]>`
    select column_name as column, data_type as type from information_schema.columns
    where table_schema = ${schema} and table_name = ${name} and is_identity = 'NO'
      and (is_nullable = 'NO' and column_default is null or column_name in ${sql([...columns])})`
  const values = wanted.map(({ column, type }) => [column, freshOf(type)])
  return { ...Object.fromEntries(values), ...fitting[table]?.() }
}

const insert = (table: string, row: Row) => sql`insert into ${sql(table)} ${sql(row)}`

async function refusing(table: string, columns: readonly string[]): Promise<string | undefined> {
  const [first, second] = [await rowOf(table, columns), await rowOf(table, columns)]
  await insert(table, first)
  for (const column of columns) second[column] = first[column]
  try {
    await insert(table, second)
    return undefined
  } catch (error) {
    const { code, schema_name, constraint_name } = error as Record<string, string>
    return code === '23505' ? `${schema_name}.${constraint_name}` : String(error)
  }
}

describe('security: Postgres itself refuses a second row', () => {
  test.each([
    ['gateway.inbox_consumer_message_id_pk', 'inbox', 'consumer, message_id', 'a message is worked on once'],
    ['gateway.outbox_pkey', 'outbox', 'id', 'one cause is one message'],
    [
      'gateway.dead_letter_consumer_message_id_pk',
      'dead_letter',
      'consumer, message_id',
      'a dead letter is redriven once',
    ],
    ['payments.inbox_consumer_message_id_pk', 'inbox', 'consumer, message_id', 'a message is worked on once'],
    ['payments.outbox_pkey', 'outbox', 'id', 'one cause is one message'],
    [
      'payments.dead_letter_consumer_message_id_pk',
      'dead_letter',
      'consumer, message_id',
      'a dead letter is redriven once',
    ],
    ['payouts.inbox_consumer_message_id_pk', 'inbox', 'consumer, message_id', 'a message is worked on once'],
    ['payouts.outbox_pkey', 'outbox', 'id', 'one cause is one message'],
    [
      'payouts.dead_letter_consumer_message_id_pk',
      'dead_letter',
      'consumer, message_id',
      'a dead letter is redriven once',
    ],
    ['chain_relayer.inbox_consumer_message_id_pk', 'inbox', 'consumer, message_id', 'a message is worked on once'],
    ['chain_relayer.outbox_pkey', 'outbox', 'id', 'one cause is one message'],
    [
      'chain_relayer.dead_letter_consumer_message_id_pk',
      'dead_letter',
      'consumer, message_id',
      'a dead letter is redriven once',
    ],
    ['payments.journal_posting_line_pk', 'journal', 'posting, line', 'a line is booked once'],
    ['payments.journal_reversed', 'journal', 'reverses, line', 'a posting is taken back once'],
    ['payouts.journal_posting_line_pk', 'journal', 'posting, line', 'a line is booked once'],
    ['payouts.journal_reversed', 'journal', 'reverses, line', 'a posting is taken back once'],
    ['chain_relayer.journal_posting_line_pk', 'journal', 'posting, line', 'a line is booked once'],
    ['chain_relayer.journal_reversed', 'journal', 'reverses, line', 'a posting is taken back once'],
    ['books.journal_posting_line_pk', 'journal', 'posting, line', 'a line is booked once'],
    ['books.journal_reversed', 'journal', 'reverses, line', 'a posting is taken back once'],
    ['gateway.identities_pkey', 'identities', 'wallet', 'a wallet is given its coin once'],
    ['gateway.reminders_wallet_cycle_kind_pk', 'reminders', 'wallet, cycle, kind', 'a reminder is sent once'],
    [
      'gateway.auto_repayments_wallet_cycle_attempt_pk',
      'auto_repayments',
      'wallet, cycle, attempt',
      'a try to repay a debt automatically is ordered once',
    ],
    ['pricing.quotes_taken_pkey', 'quotes_taken', 'id', 'a quote has one taker'],
    ['payments.payments_pkey', 'payments', 'id', 'one promise of an id'],
    ['payments.payments_quote', 'payments', 'quote_id', 'a quote is one promise'],
    ['payments.payments_checkout', 'payments', 'checkout_id', 'a checkout pays one promise'],
    ['payments.payments_provider_payment', 'payments', 'provider_payment_id', 'money counts for one promise'],
    ['payments.payments_open_settlement', 'payments', 'wallet', 'a debt is charged once'],
    ['payments.refunds_pkey', 'refunds', 'id', 'a refund is summed up once'],
    ['payments.reversals_pkey', 'reversals', 'payment_id', 'a loss is asked for once'],
    ['payments.wallets_pkey', 'wallets', 'wallet', 'a wallet is frozen, or it is not'],
    ['payments.refund_orders_pkey', 'refund_orders', 'reference', 'a key is one refund'],
    ['payments.refund_orders_once', 'refund_orders', 'account, provider_payment_id', 'a charge goes back once'],
    ['payments.returned_transfers_pkey', 'returned_transfers', 'name', 'AUSD that came back counts for one payment'],
    ['payments.resolutions_pkey', 'resolutions', 'deed_id', 'a command is done once'],
    ['payments.anomalies_pkey', 'anomalies', 'id', 'a second payment is counted once'],
    ['payments.owed_to_cashouts_pkey', 'owed_to_cashouts', 'source', 'what cash-outs are owed is one figure'],
    ['payouts.payouts_pkey', 'payouts', 'id', 'a reference at the bank is one cash-out'],
    ['payouts.payouts_quote', 'payouts', 'quote_id', 'a quote is one cash-out'],
    [
      'payouts.payouts_authorization',
      'payouts',
      'authorizer, authorization_nonce',
      'a signed transfer is one cash-out',
    ],
    ['payouts.payouts_provider_payout', 'payouts', 'provider_payout_id', 'a bank transfer pays one cash-out'],
    ['payouts.anomalies_pkey', 'anomalies', 'id', 'an oddity is noted once'],
    ['chain_relayer.operation_pkey', 'operation', 'id', 'an id is one operation'],
    ['chain_relayer.operation_once', 'operation', 'kind, cause', 'a cause acts once'],
    [
      'chain_relayer.operation_authorization_once',
      'operation',
      'kind, wallet, authorization_nonce',
      'no two payouts of one transfer',
    ],
    ['chain_relayer.lane_pkey', 'lane', 'address', 'a key counts its nonces in one place'],
    ['chain_relayer.transaction_lane_nonce_pk', 'transaction', 'lane, nonce', 'a nonce is given out once'],
    ['chain_relayer.attempt_lane_nonce_attempt_pk', 'attempt', 'lane, nonce, attempt', 'an attempt is signed once'],
    ['chain_relayer.attempt_hash', 'attempt', 'hash', 'a hash is of one nonce'],
    [
      'chain_relayer.signed_amounts_signer_identity_pk',
      'signed_amounts',
      'signer, identity',
      'a retried signature counts once',
    ],
    [
      'chain_relayer.signed_totals_signer_spending_day_pk',
      'signed_totals',
      'signer, spending, day',
      'a day has one sum',
    ],
    [
      'chain_relayer.reverted_gas_lane_nonce_wallet_pk',
      'reverted_gas',
      'lane, nonce, wallet',
      'reverted gas is counted once',
    ],
    ['chain_relayer.cursor_pkey', 'cursor', 'name', 'transfers are read on from one block'],
    ['chain_relayer.giveback_request_once', 'giveback_request', 'tx_hash, log_index', 'a transfer goes back once'],
    ['ops.commands_once', 'commands', 'verb, target, cause', 'a request of an operator is one command'],
  ] as const)(
    'security: Postgres refuses by %s a second row of %s with the same %s: %s',
    async (index, name, columns) => {
      const [schema] = index.split('.')
      expect(await refusing(`${schema}.${name}`, columns.split(', '))).toBe(index)
    },
  )
})
