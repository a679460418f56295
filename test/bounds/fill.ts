import type { Sql } from 'postgres'

// The rows are those of a database in long use: final, and of many wallets. They are inserted without triggers, so that
// they are not announced as changes. The rechecks of identities are spread over a day, the interval of a deployment.

const wallet = `'0x' || lpad(to_hex(n % 20000), 40, '0')`
const old = `now() - interval '20 days' - n * interval '1 second'`
const messages = (schema: string, consumer: string) => ({
  [`${schema}.inbox (consumer, message_id, done_at)`]: `'${consumer}', 'old' || n, ${old}`,
  [`${schema}.outbox (id, subject, payload, created_at, published_at)`]: `'old' || n, 'old', '{"refId":"old"}', ${old}, ${old}`,
})
const journal = (schema: string) => ({
  [`${schema}.journal (posting, line, event, item, account, asset, amount, booked_at)`]: `'old' || n / 2, n % 2, 'old', 'old' || n / 4, case n % 2 when 0 then 'treasury' else 'capital' end, 'AUSD', 1 - 2 * (n % 2), ${old}`,
})

const operation = `jsonb_build_object('ausd', '1', 'sendId', 'old' || n,
  'authorization', jsonb_build_object('value', '1', 'to', ${wallet}))`

const rows: Readonly<Record<string, string>> = {
  ...messages('gateway', 'gateway'),
  ...messages('payments', 'payments'),
  ...messages('payouts', 'payouts'),
  ...messages('chain_relayer', 'chain-relayer'),
  ...journal('payments'),
  ...journal('payouts'),
  ...journal('chain_relayer'),
  ...journal('books'),
  'payments.payments (id, kind, state, wallet, pair, currency, rate_minor_per_usd, fiat_minor, ausd_micro, method, quote_id, request_fingerprint, account, checkout_id, checkout_url, expires_at, payment_request_id, provider_payment_id, held, credited_at, created_at, updated_at, changed_at)': `'old' || n, 'topup', case n % 3 when 0 then 'expired' else 'credited' end, ${wallet}, 'USD/IDR', 'IDR', 16250, 50000, 3076923, 'qr', 'old' || n, 't', 'ID', 'ps-' || n, 'u', ${old}, 'pr-' || n, case n % 3 when 0 then null else 'py-' || n end, false, ${old}, ${old}, ${old}, ${old}`,
  'payments.refunds (id, payment_id, provider_payment_id, refunded_minor, status)': `'old' || n, 'old' || n, 'py-' || n, 1, 'succeeded'`,
  'payouts.payouts (id, wallet, state, rate_minor_per_usd, ausd_micro, fiat_minor, quote_id, request_fingerprint, authorizer, authorization_nonce, "authorization", channel_code, bank_details, bank_details_key_id, provider_payout_id, paid_at, created_at, updated_at, changed_at)': `'old' || n, ${wallet}, case n % 9 when 0 then 'returned' else 'paid' end, 1, 1, 1, 'old' || n, 't', ${wallet}, 'old' || n, '{}', 'c', 'b', 'k', 'disb-' || n, ${old}, ${old}, ${old}, ${old}`,
  'payouts.account_checks (id, wallet, request_mark, account_mark, verdict, asked_at)': `'old' || n, ${wallet}, 'old' || n, 'old' || n, 'match', ${old}`,
  'pricing.quotes_taken (id, request_fingerprint, taken_at, expires_at)': `md5('old' || n)::uuid, 'old', ${old}, ${old}`,
  'gateway.users (wallet, country)': `'0x' || lpad(to_hex(n), 40, '0'), 'ID'`,
  'gateway.accepted_terms (wallet, version)': `'0x' || lpad(to_hex(n), 40, '0'), '1'`,
  'gateway.identities (wallet, state, provider, decided_at, flag_settled_at)': `'0x' || lpad(to_hex(n), 40, '0'), 'verified', 'sumsub', ${old}, ${old}`,
  'gateway.identity_links (wallet, provider, provider_ref)': `'0x' || lpad(to_hex(n), 40, '0'), 'persona', 'inq_' || n`,
  'gateway.reminders (wallet, cycle, kind)': `'0x' || lpad(to_hex(n), 40, '0'), 1, 'due'`,
  'gateway.auto_repayments (wallet, cycle, attempt, outcome)': `'0x' || lpad(to_hex(n), 40, '0'), 1, 0, 'repaid'`,
  'gateway.identity_rechecks (wallet, provider, next_check_at)': `'0x' || lpad(to_hex(n), 40, '0'), 'sumsub', now() + n % 86400 * interval '1 second'`,
  'chain_relayer.operation (id, kind, cause, wallet, payload, content_hash, authorization_nonce, leaves_micro, state, lane, nonce, tx_hash, block_number, created_at, updated_at)': `'old' || n, (array['credit', 'take', 'send', 'verify'])[n % 4 + 1], 'old' || n, ${wallet}, ${operation}, 'h', case when n % 4 in (1, 2) then 'old' || n end, 1, 'settled', '0xold', n, '0x' || lpad(to_hex(n), 64, '0'), 0, ${old}, ${old}`,
  'chain_relayer.transaction (lane, nonce, purpose, operation_ids, "to", data, value_wei, outcome, tx_hash, block_number, block_hash)': `'0xold', n, 'op', '["old"]', '0x', '0x', 0, 'ok', '0xold' || n, 0, '0x'`,
  'chain_relayer.attempt (lane, nonce, attempt, purpose, raw, hash, max_fee_wei, priority_wei, gas)': `'0xold', n, 0, 'call', '0x', '0xold' || n, 1, 1, 1`,
  'chain_relayer.reverted_gas (lane, nonce, wallet, wei, created_at)': `'0xold', n, ${wallet}, 1, ${old}`,
  'chain_relayer.signed_amounts (signer, identity, spending, amount, created_at)': `'0xold', 'old' || n, 'credit', 1, ${old}`,
  'indexer_reader.events (generation, block_number, log_index, wallet, name, args, tx_hash, at_seconds)': `1, -n, 0, ${wallet}, 'Verified', '{}', '0x', 0`,
  'indexer_reader.records (generation, wallet, verified, defaulted, score, drawn_micro, repay_count, cycles_opened, cycles_closed, last_block)': `1, '0x' || lpad(to_hex(n), 40, '0'), true, false, 0, 0, 0, 0, 0, 0`,
  'indexer_reader.cycles (generation, wallet, number, outcome, opened_at_seconds, peak_drawn_micro, total_repaid_micro, open_tx_hash)': `1, '0x' || lpad(to_hex(n), 40, '0'), 1, 'Qualified', 0, 1, 1, '0x'`,
  'books.chain_moves (tx_hash, log_index, block, moved_at, kind, key, wallet, ausd_micro)': `'0xold' || n, 0, -n, ${old}, 'credit', 'old' || n, ${wallet}, 0`,
  'books.provider_moves (account, transaction_id, type, status, reference, product_id, currency, amount_minor, unsettled_read_at, settles_at, settled_read_at, created_at, changed_at, read_at)': `'ID', 'old' || n, 'payment', 'succeeded', 'old' || n, 'py-' || n, 'IDR', 0, ${old}, ${old}, ${old}, ${old}, ${old}, ${old}`,
  'books.names (key, kind, item)': `'old' || n, 'ref', 'old' || n`,
}

const tableOf = (into: string) => into.split(' ')[0]!
export const filled = Object.keys(rows).map(tableOf)

/** Tables that get more rows: the planner assumes that their lists have 100 entries, and would scan a smaller table. */
const larger = /^indexer_reader\.(records|cycles)/
const largerLeast = 100_000

export async function fillTables(
  sql: Sql,
  count: number,
  wanted: (table: string) => boolean = () => true,
): Promise<void> {
  const texts = Object.entries(rows)
    .filter(([into]) => wanted(tableOf(into)))
    .map(([into, values]) => {
      const last = larger.test(into) ? Math.max(count, largerLeast) : count
      return `insert into ${into} select ${values} from generate_series(1, ${last}) n`
    })
  const part = async (own: readonly string[]) => {
    await sql.begin(async (tx) => {
      await tx`set local session_replication_role = replica`
      for (const text of own) await tx.unsafe(text)
    })
  }
  await Promise.all([0, 1].map((half) => part(texts.filter((_, at) => at % 2 === half))))
  await sql.unsafe('vacuum analyze')
}
