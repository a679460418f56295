import postgres, { type Sql } from 'postgres'
import { urlInRole } from '#platform/db/url'
import { startScratchPostgres } from '#test/support/scratch-postgres'

export type BooksDatabase = AsyncDisposable & { readonly admin: Sql; readonly books: Sql; readonly booksUrl: string }

export async function openBooksDatabase(): Promise<BooksDatabase> {
  const server = await startScratchPostgres()
  const open = (url: string) => postgres(url, { max: 2, onnotice: () => {} })
  const admin = open(server.adminUrl)
  const booksUrl = urlInRole(server.urlAs('operations', server.passwords.operations), 'books')
  const books = open(booksUrl)
  return {
    admin,
    books,
    booksUrl,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([admin, books].map((sql) => sql.end({ timeout: 1 })))
      await server[Symbol.asyncDispose]()
    },
  }
}

const wallet = `'0x' || lpad(to_hex(n), 40, '0')`
const hash = (of: string) => `'0x' || lpad(to_hex(n * 10 + ${of}), 64, '0')`
const key = (of: string) => `'0xf' || lpad(to_hex(n * 10 + ${of}), 63, '0')`

const linesOf = (schema: string, kind: string, at: string, lines: [string, string, string][]) => `
  insert into ${schema}.journal (posting, line, event, item, account, asset, amount, booked_at)
    select '${kind}_' || n || '/1', ordinal, 'test', '${kind}_' || n, account, asset, amount, ${at}
    from generate_series($1::int, $2::int) n
    cross join lateral (values ${lines.map(([account, asset, amount], at) => `(${at}, '${account}', '${asset}', ${amount}::numeric)`).join(', ')})
      as line (ordinal, account, asset, amount)`

/** Inserts the top-ups `from` to `to` of 100 AUSD for Rp 1,625,000, credited at `at` and equal in every source. */
export async function plantTopups(admin: Sql, from: number, to: number, at = 'now()') {
  const run = (text: string) => admin.unsafe(text, [from, to])
  const numbers = 'from generate_series($1::int, $2::int) n'
  const rest = `'USD/IDR', 'IDR', 1625000, 1625000, 100000000, 'qr'`
  await run(`insert into payments.payments (id, kind, state, wallet, pair, currency, rate_minor_per_usd,
      fiat_minor, ausd_micro, method, quote_id, request_fingerprint, account, provider_payment_id, held,
      paid_minor, paid_at, onchain_micro, credited_at, created_at, updated_at)
    select 'pay_' || n, 'topup', 'credited', ${wallet}, ${rest}, 'q' || n, 't', 'ID', 'py-' || n, false,
      1625000, ${at}, 100000000, ${at}, ${at}, ${at} ${numbers}`)
  await run(
    linesOf('payments', 'pay', at, [
      ['provider_id', 'IDR', '1625000'],
      ['exchange', 'IDR', '-1625000'],
      ['exchange', 'AUSD', '100000000'],
      ['treasury', 'AUSD', '-100000000'],
      ['credit_line', 'AUSD', '100000000'],
      ['collateral', 'AUSD', '-100000000'],
    ]),
  )
  await run(`insert into chain_relayer.operation (id, kind, cause, wallet, payload, content_hash,
      leaves_micro, state, created_at)
    select 'op_' || n, 'credit', 'pay_' || n, ${wallet}, '{"ausd": "100000000"}', 'h', 0, 'settled', ${at}
    ${numbers}`)
  await run(`insert into books.names (key, kind, item) select ${key('1')}, 'ref', 'pay_' || n ${numbers}`)
  await run(`insert into books.chain_moves (tx_hash, log_index, block, moved_at, kind, key, wallet, ausd_micro)
    select ${hash('1')}, 0, 100 + n, ${at}, 'credit', ${key('1')}, ${wallet}, 100000000 ${numbers}`)
  await run(`insert into books.provider_moves (account, transaction_id, type, status, reference,
      product_id, currency, amount_minor, created_at, changed_at, read_at)
    select 'ID', 'txn_' || n, 'payment', 'succeeded', 'pay_' || n, 'py-' || n, 'IDR', 1625000, ${at},
      ${at}, ${at} ${numbers}`)
}

/** Inserts paid cash-outs of 2 AUSD for Rp 32,500, equal in every source. */
export async function plantCashouts(admin: Sql, from: number, to: number, at = 'now()') {
  const run = (text: string) => admin.unsafe(text, [from, to])
  const numbers = 'from generate_series($1::int, $2::int) n'
  await run(`insert into payouts.payouts (id, wallet, state, rate_minor_per_usd, ausd_micro, fiat_minor,
      quote_id, request_fingerprint, authorizer, authorization_nonce, "authorization", channel_code, bank_details,
      bank_details_key_id, provider_payout_id, created_at, updated_at)
    select 'out_' || n, ${wallet}, 'paid', 1625000, 2000000, 32500, 'q' || n, 't', ${wallet},
      ${key('2')}, '{}', 'ID_BCA', 'x', 'x', 'disb-' || n, ${at}, ${at} ${numbers}`)
  await run(
    linesOf('payouts', 'out', at, [
      ['treasury', 'AUSD', '2000000'],
      ['exchange', 'AUSD', '-2000000'],
      ['exchange', 'IDR', '32500'],
      ['provider_id', 'IDR', '-32500'],
    ]),
  )
  await run(`insert into books.names (key, kind, item)
    select ${wallet} || ':' || ${key('2')} || ':2000000', 'take', 'out_' || n ${numbers}`)
  await run(`insert into books.chain_moves (tx_hash, log_index, block, moved_at, kind, key, wallet, ausd_micro)
    select ${hash('2')}, 0, 100 + n, ${at}, 'in', ${wallet} || ':' || ${key('2')} || ':2000000', ${wallet}, 2000000
    ${numbers}`)
  await run(`insert into books.provider_moves (account, transaction_id, type, status, reference,
      product_id, currency, amount_minor, created_at, changed_at, read_at)
    select 'ID', 'txn_out_' || n, 'payout', 'succeeded', 'out_' || n, 'disb-' || n, 'IDR', 32500,
      ${at}, ${at}, ${at} ${numbers}`)
}

export const recordRead = (admin: Sql, block = 900) =>
  admin.unsafe(`insert into books.checkpoints (source, block, read_to)
    values ('chain', ${block}, clock_timestamp()), ('provider:ID', null, clock_timestamp())
    on conflict (source) do update set read_to = excluded.read_to, block = excluded.block`)
