import { expect, setSystemTime, test } from 'bun:test'
import postgres from 'postgres'
import { startScratchPostgres } from '#test/support/scratch-postgres'
import { readRows } from './rows'

test('books count as unreconciled since the last run, or before it since the first payment', async () => {
  await using server = await startScratchPostgres()
  const sql = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  const [paid, ended] = [new Date(1), new Date(2)]
  const books = async () => (await readRows(sql)).books
  const [{ now }] = await sql<[{ now: Date }]>`select now()`
  expect(await books()).toEqual({ endedAt: null, ageMs: 0 })
  await sql`
    insert into payments.payments (id, kind, state, wallet, pair, currency, rate_minor_per_usd,
      fiat_minor, ausd_micro, quote_id, request_fingerprint, account, created_at)
    values ('pay_1', 'topup', 'expired', '0x', 'USD/IDR', 'IDR', 1, 1, 1, 'q', 'f', 'ID', ${paid})`
  expect(await books()).toMatchObject({ endedAt: null, ageMs: expect.closeTo(+now - 1, -5) })
  await sql`
    insert into books.runs (started_at, ended_at, whole, items, open)
    values (${ended}, ${ended}, true, 0, 0)`
  expect((await books()).endedAt).toEqual(ended)
  await sql.end({ timeout: 1 })
})

test('a reconciliation that ended while the clock of Postgres was ahead does not count as the last one', async () => {
  await using server = await startScratchPostgres()
  const sql = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  await sql`
    insert into books.runs (started_at, ended_at, whole, items, open)
    select at, at, true, 0, 0 from (values (now() - interval '1 hour'), (now() + interval '2 hours')) v (at)`
  expect((await readRows(sql)).books.ageMs).toBeCloseTo(3_600_000, -5)
  await sql.end({ timeout: 1 })
})

test('the status counts verdicts that are not on the chain, those given up, and repayments to give back', async () => {
  await using server = await startScratchPostgres()
  const sql = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  await sql`
    insert into gateway.identities (wallet, state, provider, decided_at, check_at, updated_at)
    values ('0x1', 'rejected', 'p', now(), now(), now() - interval '1 hour'),
      ('0x2', 'verified', 'p', now(), null, now())`
  await sql`update gateway.identities set flag_failed_at = now() where wallet = '0x2'`
  await sql`
    insert into payments.reversals (payment_id, wallet, lost_micro, made_good_micro)
    values ('pay_1', '0x1', 0, 7), ('pay_2', '0x2', 7, 7)`
  const { states, needlessRepayments, failedFlags } = await readRows(sql)
  expect(states).toMatchObject([{ what: 'identity', state: 'rejected', count: 1, sums: {} }])
  expect(states[0]!.oldestMs).toBeGreaterThan(3_599_000)
  expect([needlessRepayments, failedFlags]).toEqual([1, 1])
  await sql.end({ timeout: 1 })
})

test('an open checkout has its age since it was opened, of which only the time since its end counts against its limit', async () => {
  await using server = await startScratchPostgres()
  const sql = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  const open = (id: string, openedAgo: string, endsIn: string) => sql`
    insert into payments.payments (id, kind, state, wallet, pair, currency, rate_minor_per_usd, fiat_minor, ausd_micro,
      quote_id, request_fingerprint, account, checkout_id, checkout_url, expires_at, next_check_at, created_at, updated_at)
    values (${id}, 'topup', 'awaiting_payment', '0x', 'USD/IDR', 'IDR', 1, 1, 1, ${id}, 'f', 'ID', ${id}, 'u',
      now() + ${endsIn}::interval, now(), now() - ${openedAgo}::interval, now() - ${openedAgo}::interval)`
  const ages = async () => (await readRows(sql)).states.map(({ oldestMs, waitedMs }) => [oldestMs, waitedMs])
  await open('pay_1', '1 minute', '29 minutes')
  expect(await ages()).toEqual([[expect.closeTo(60_000, -4), 0]])
  await open('pay_2', '40 minutes', '-10 minutes')
  expect(await ages()).toEqual([[expect.closeTo(2_400_000, -4), expect.closeTo(600_000, -4)]])
  await sql.end({ timeout: 1 })
})

test('the status counts the disputes that wait for evidence, and names the payment of the first', async () => {
  await using server = await startScratchPostgres()
  const sql = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  const evidence = async () => (await readRows(sql)).evidenceDue
  expect(await evidence()).toEqual({ count: 0, leftMs: 0, paymentId: '' })
  await sql`
    insert into payments.refunds (id, payment_id, provider_payment_id, origin, status, evidence_due_at, next_check_at)
    values ('d-1', 'pay_1', 'py-1', 'chargeback', 'pending', now() + interval '2 days', now()),
      ('d-2', 'pay_2', 'py-2', 'chargeback', 'unknown', now() + interval '1 day', now()),
      ('d-3', 'pay_3', 'py-3', 'chargeback', 'pending', null, now()),
      ('d-4', 'pay_4', 'py-4', 'chargeback', 'succeeded', now(), null)`
  expect(await evidence()).toMatchObject({ count: 2, leftMs: expect.closeTo(86_400_000, -5), paymentId: 'pay_2' })
  await sql.end({ timeout: 1 })
})

test('the status counts ordered payouts that need review, until they end or are known after a refusal', async () => {
  await using server = await startScratchPostgres()
  const sql = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  const payouts = async () => (await readRows(sql)).doubtfulPayouts
  expect(await payouts()).toEqual({ count: 0, payoutId: '' })
  await sql`
    insert into payouts.payouts (id, wallet, state, rate_minor_per_usd, ausd_micro, fiat_minor, quote_id, request_fingerprint,
      authorizer, authorization_nonce, "authorization", channel_code, bank_details, bank_details_key_id, provider_payout_id)
    select id, '0x', state, 1, 1, 1, id, 'f', '0x', id, '{}', 'ID_BCA', 'x', 'x', known
    from (values ('out_refused', 'paying', null), ('out_known', 'paying', 'disb-1'), ('out_lost', 'paying', 'disb-2'),
      ('out_paid', 'paid', 'disb-3'), ('out_fine', 'paying', 'disb-4')) rows (id, state, known)`
  await sql`
    insert into payouts.anomalies (id, kind, object, payout_id, says)
    select kind || id, kind, id, id, 's'
    from (values ('key_taken', 'out_refused'), ('provider_refuses', 'out_refused'), ('provider_refuses', 'out_known'),
      ('payout_lost', 'out_lost'), ('paid_twice', 'out_paid')) rows (kind, id)`
  expect(await payouts()).toEqual({ count: 2, payoutId: expect.stringMatching(/^out_(refused|lost)$/) })
  await sql.end({ timeout: 1 })
})

test('the status reads by how much the clock of Postgres is ahead of this machine', async () => {
  await using server = await startScratchPostgres()
  const sql = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  const dayMs = 86_400_000
  try {
    expect((await readRows(sql)).clockAheadMs).toBeCloseTo(0, -4)
    setSystemTime(Date.now() - dayMs)
    expect((await readRows(sql)).clockAheadMs).toBeCloseTo(dayMs, -5)
  } finally {
    setSystemTime()
    await sql.end({ timeout: 1 })
  }
})
