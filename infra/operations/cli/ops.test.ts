import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import postgres, { type Sql } from 'postgres'
import { NotAcceptable } from '#infra/operations/books/external/accept'
import { listRefused, namedIn } from '#infra/operations/cli/accounts'
import { find } from '#infra/operations/cli/find'
import { listInFlight } from '#infra/operations/cli/in-flight'
import { type ListedCommand, listed, readOperatorCommands } from '#infra/operations/cli/operator-commands'
import { released } from '#infra/operations/cli/rates'
import { explained } from '#infra/operations/cli/reconcile'
import { showTopup } from '#infra/operations/cli/topups'
import { accepted, listUnexplained, reopened, returned } from '#infra/operations/cli/unexplained'
import { clearedText, frozenText, gaveBack, listFrozen, tookBack } from '#infra/operations/cli/wallets'
import { readRows } from '#infra/operations/health/rows'
import { readBooks } from '#infra/operations/timeline/books'
import { readCashouts } from '#infra/operations/timeline/cashouts'
import { findRoots } from '#infra/operations/timeline/find'
import { readWallet } from '#infra/operations/timeline/wallet'
import type { Ask } from '#platform/bus/ask'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'

let server: ScratchPostgres
let sql: Sql
beforeAll(async () => {
  server = await startScratchPostgres()
  sql = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
})
afterAll(async () => {
  await sql.end({ timeout: 1 })
  await server[Symbol.asyncDispose]()
})

describe('ops in-flight', () => {
  test('ops in-flight lists unsent messages and unfinished items, oldest first, and nothing completed', async () => {
    await sql`
      insert into gateway.outbox (id, subject, payload, published_at, created_at)
      values ('unsent', 'relay.drip', '{}', null, now()), ('sent', 'relay.drip', '{}', now(), now())`
    await sql`
      insert into chain_relayer.operation
        (id, kind, cause, wallet, payload, content_hash, leaves_micro, state, created_at)
      values ('waits', 'drip', 'a', '0x', '{}', 'h', 0, 'waiting', now() - interval '1 minute'),
        ('done', 'drip', 'b', '0x', '{}', 'h', 0, 'settled', now())`
    await sql`
      insert into payments.payments (id, kind, state, wallet, pair, currency, rate_minor_per_usd,
        fiat_minor, ausd_micro, quote_id, request_fingerprint, account, provider_payment_id, reason,
        created_at)
      select id, 'topup', state, '0x', 'USD/IDR', 'IDR', 1, 1, 1, id, 'f', 'ID', id, reason,
        now() - interval '3 minutes'
      from (values ('pay_accepted', 'accepted', null), ('pay_late', 'expired', 'awaiting_rate'),
        ('pay_unpaid', 'expired', null)) as made (id, state, reason)`
    await sql`
      insert into gateway.identities (wallet, state, provider, decided_at, check_at, updated_at)
      values ('0x1', 'rejected', 'p', now(), now(), now() - interval '2 minutes'),
        ('0x2', 'verified', 'p', now(), null, now())`
    const found = await listInFlight(sql)
    expect(found.map(({ id, state }) => [id, state])).toEqual([
      ['pay_late', 'expired'],
      ['0x1', 'rejected'],
      ['waits', 'waiting'],
      ['unsent', 'unsent'],
    ])
  })
})

describe('ops wallets list', () => {
  test('ops wallets list shows the losses and lost holds of each frozen wallet, and no other wallets', async () => {
    const [frozen, freed] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`]
    await sql`
      insert into payments.wallets (wallet, frozen, revision)
      values (${frozen}, true, 1), (${freed}, false, 2)`
    await sql`
      insert into payments.payments (id, kind, state, wallet, pair, currency, rate_minor_per_usd,
        fiat_minor, ausd_micro, quote_id, request_fingerprint, account, provider_payment_id, lost_hold)
      select id, 'topup', 'held', ${frozen}, 'USD/IDR', 'IDR', 1, 1, 1, id, 'f', 'ID', id, lost
      from (values ('pay_c', 'frozen'), ('pay_d', 'cleared')) as held (id, lost)`
    await sql`
      insert into payments.reversals (payment_id, wallet, lost_micro, made_good_micro)
      values ('pay_a', ${frozen}, 5000000, 2000000), ('pay_b', ${frozen}, 7, 7)`
    expect(await listFrozen(sql)).toMatchObject([
      {
        wallet: frozen,
        missingMicro: '3000000',
        onChain: true,
        payments: ['pay_a'],
        lostHolds: ['pay_c'],
      },
    ])
  })
})

test('ops wallets list names the operator who froze a wallet last, with the reason', async () => {
  const wallet = `0x${'3'.repeat(40)}`
  await sql`insert into payments.wallets (wallet, frozen, frozen_by_operator, revision) values (${wallet}, true, true, 1)`
  for (const [cause, by, outcome] of [
    ['frozen after revision 0', 'sari', 'done'],
    ['frozen after revision 2', 'dewi', 'done'],
    ['frozen after revision 4', 'budi', 'refused'],
  ] as const) {
    const [command] = await sql<{ id: string }[]>`
      insert into ops.commands (verb, target, cause, reason, asked_by)
      values ('wallets freeze', ${wallet}, ${cause}, 'a first reason', ${by}) returning id`
    await sql`insert into ops.outcomes (command_id, outcome, said, asked_by, reason)
      values (${command!.id}, ${outcome}, 'said', ${by}, ${`order of a court, ${by}`})`
  }
  const found = (await listFrozen(sql)).find((one) => one.wallet === wallet)!
  expect(frozenText(found)).toEndWith('frozen by dewi (order of a court, dewi): wallets unfreeze ends that')
})

test('ops trace shows the losses of a wallet without the needless repayment of another one', async () => {
  const wallet = `0x${'4'.repeat(40)}`
  await sql`insert into payments.wallets (wallet, frozen, revision) values (${wallet}, true, 1)`
  await sql`
    insert into payments.reversals (payment_id, wallet, lost_micro, made_good_micro)
    values ('pay_e', ${wallet}, 5000000, 0), ('pay_f', ${wallet}, 0, 3000000)`
  const { items } = await readWallet(sql, [wallet])
  expect(items?.[0]?.facts).toEqual({ owed: '5.000000 AUSD' })
})

describe('a refused bank account', () => {
  const [refused, allowed, payoutId] = [`acc_${'r'.repeat(43)}`, `acc_${'a'.repeat(43)}`, crypto.randomUUID()]
  const other = crypto.randomUUID()
  beforeAll(async () => {
    await sql`
      insert into payouts.payouts (id, wallet, state, rate_minor_per_usd, ausd_micro, fiat_minor, quote_id,
        request_fingerprint, authorizer, authorization_nonce, "authorization", channel_code, bank_details,
        bank_details_key_id, account_mark, held_by_operator)
      select id, wallet, state, 1, 1, 1, id, 'f', wallet, id, '{}', 'ID_BCA', 'box', 'k', mark, state = 'taken'
      from (values (${payoutId}, '0x7', 'taken', 'mark-2'), (${other}, '0x8', 'paid', 'mark-1'),
        ('elsewhere', '0x8', 'paid', 'mark-3')) as made (id, wallet, state, mark)`
    await sql`
      insert into payouts.refused_accounts (account, marks, channel_code, since, revision, set_by, reason)
      values (${refused}, '{mark-1,mark-2}', 'ID_BCA', now(), 1, 'olga', 'ticket 7'),
        (${allowed}, '{mark-3}', 'ID_BCA', null, 2, 'olga', 'a mistake')`
  })

  test('ops accounts list shows each with its cash-outs under every key, and none that is allowed again', async () => {
    expect(await listRefused(sql)).toMatchObject([
      { account: refused, bank: 'ID_BCA', by: 'olga', reason: 'ticket 7', cashouts: 2, wallets: 2, held: [payoutId] },
    ])
  })

  test('ops trace shows it with the cash-out, and finds its cash-outs by its name', async () => {
    const { items = [], entries = [] } = await readCashouts(sql, [payoutId])
    expect(items[0]?.facts).toMatchObject({
      held: 'by an operator: cashouts release or cancel',
      'refused account': refused,
    })
    expect(entries.map(({ says }) => says)).toContain('its bank account is refused by olga: ticket 7')
    const noBus = () => Promise.reject(new Error('no bus'))
    expect((await findRoots(sql, noBus, refused)).cashouts.toSorted()).toEqual([payoutId, other].toSorted())
  })

  test('ops status counts it, and the cash-outs that operators hold', async () => {
    const { refusedAccounts, heldCashouts } = await readRows(sql)
    expect({ refusedAccounts, heldCashouts }).toEqual({ refusedAccounts: 1, heldCashouts: 1 })
  })

  test.each([
    [['ID_BCA', '1234567890'], { channelCode: 'ID_BCA', accountNumber: '1234567890' }],
    [[payoutId], { payoutId }],
    [[refused], { account: refused }],
    [['ID_BCA', '12345'], undefined],
    [['BCA', '1234567890'], undefined],
    [['1234567890'], undefined],
    [['acc_short'], undefined],
  ])('the words %j name an account as %j', (words, named) => {
    expect(namedIn(words)).toEqual(named as never)
  })
})

test('ops trace shows a command at the time of its outcome, not at that of an earlier refusal', async () => {
  const day = (of: number) => new Date(Date.UTC(2026, 10, of, 2))
  const [{ id }] = await sql<[{ id: string }]>`
    insert into ops.commands (verb, target, cause, reason, asked_by, asked_at)
    values ('review resolve', 'pay_asked_again', 'c', 'r', 'sari', ${day(20)}) returning id`
  for (const [outcome, by, at] of [
    ['refused', 'sari', day(20)],
    ['done', 'dewi', day(24)],
  ] as const)
    await sql`
      insert into ops.outcomes (command_id, outcome, said, asked_by, reason, recorded_at)
      values (${id}, ${outcome}, 's', ${by}, 'r', ${at})`
  const roots = { payments: ['pay_asked_again'], cashouts: [], operations: [], wallets: [], others: [] }
  const { entries } = await readBooks(sql, roots)
  expect(entries?.map(({ at, says }) => [at, says])).toEqual([
    [day(24), 'sari requested review resolve (r), done: s (asked again by dewi: r)'],
  ])
})

test('ops find says beside its CSV file that the list is cut, which the file itself cannot say', async () => {
  const wallet = `0x${'9'.repeat(40)}`
  await sql`
    insert into payments.payments (id, kind, state, wallet, pair, currency, rate_minor_per_usd,
      fiat_minor, ausd_micro, quote_id, request_fingerprint, account)
    select 'pay_many_' || n, 'topup', 'expired', ${wallet}, 'USD/IDR', 'IDR', 1, 1, 1, 'many_' || n, 'f', 'ID'
    from generate_series(1, 201) n`
  const said: [string, string | undefined][] = []
  process.env.DATABASE_OPS_URL = server.urlAs('ops', server.passwords.ops)
  try {
    const words = ['--wallet', wallet, '--kind', 'topup', '--csv']
    expect(await find.run(words, (text, channel) => said.push([text, channel]))).toBe(1)
  } finally {
    delete process.env.DATABASE_OPS_URL
  }
  expect(said.map(([text, channel]) => [text.split('\n').length, channel])).toEqual([
    [201, undefined],
    [1, 'error'],
  ])
  expect(said[1]![0]).toBe('the file does not have everything: there are more: narrow the search')
})

test('ops commands lists the commands of an operator and of a period, and says where it is cut', async () => {
  const at = (minute: number) => `2026-11-20T01:${String(minute).padStart(2, '0')}:00.000Z`
  for (let minute = 0; minute < 53; minute++)
    await sql`
      insert into ops.commands (verb, target, cause, reason, asked_by, asked_at)
      values ('v', 'shift', ${minute}, 'r', ${minute % 2 === 0 ? 'even' : 'odd'}, ${at(minute)})`
  const [first] = await sql<[{ id: string }]>`select id from ops.commands where target = 'shift' and cause = '1'`
  await sql`insert into ops.outcomes (command_id, outcome, said, asked_by, reason, recorded_at)
    values (${first.id}, 'done', 's', 'late', 'r', ${at(1)})`
  const minutes = async (criteria: Parameters<typeof readOperatorCommands>[1]) =>
    (await readOperatorCommands(sql, criteria)).map((one) => one.at.getUTCMinutes())
  expect(await minutes({ target: 'shift', from: new Date(at(3)), to: new Date(at(6)) })).toEqual([6, 5, 4, 3])
  expect(await minutes({ by: 'odd', to: new Date(at(6)) })).toEqual([5, 3, 1])
  expect(await minutes({ by: 'late' })).toEqual([1])
  const cut = listed(await readOperatorCommands(sql, { target: 'shift' }))
  expect(cut).toMatchObject({ ok: false, data: { isComplete: false } })
  expect(cut.text).toEndWith(`\nthere are older ones: --to ${at(3)}`)
  expect(listed(await readOperatorCommands(sql, { target: 'shift', to: new Date(at(3)) })).text).not.toContain('older')
})

test('ops reconcile explain records each new explanation of a break, and a repeated one once', async () => {
  const [{ id }] = await sql<[{ id: string }]>`
    insert into books.breaks (rule, item, asset, amount, about)
    values ('r', 'i', 'AUSD', 1, 'a') returning id::text`
  const explain = (reason: string) =>
    explained({ sql }, sql, { id, owner: 'Ana', reason, until: new Date(9e12), by: 'sari' })
  const inForce = async () => (await sql`select reason from books.breaks where id = ${id}`)[0]
  for (const reason of ['ticket 1', 'ticket 2', 'ticket 1']) {
    expect(await explain(reason)).not.toHaveProperty('earlier')
    expect(await explain(reason)).toMatchObject({ earlier: { by: 'sari', reason } })
    expect(await inForce()).toEqual({ reason })
  }
  expect(await readOperatorCommands(sql, { target: `break ${id}` })).toHaveLength(3)
  await sql`update books.breaks set amount = 5, exceeded_at = now() where id = ${id}`
  expect(await explain('ticket 1')).not.toHaveProperty('earlier')
  expect(await explain('ticket 1')).toHaveProperty('earlier')
  const [muted] = await sql`select explained_amount as to, exceeded_at as beyond from books.breaks where id = ${id}`
  expect(muted).toEqual({ to: '5', beyond: null })
})

test('ops wallets clear lists payments that still need a decision', () => {
  expect(clearedText('0x1 is free', ['pay_a'])).toBe(
    '0x1 is free; pay_a may still need review: bun run ops review show pay_a',
  )
  expect(clearedText('0x1 is free')).toBe('0x1 is free')
})

test('ops wallets given-back reaches payments again after an equal second needless repayment', async () => {
  let asked = 0
  const ask = (async () => {
    asked++
    await sql`
      update payments.reversals set made_good_micro = 0, given_back_micro = given_back_micro + 7
      where payment_id = 'pay_needless'`
    return { ok: { done: 'given back' } }
  }) as unknown as Ask
  await sql`
    insert into payments.reversals (payment_id, wallet, lost_micro)
    values ('pay_needless', ${`0x${'3'.repeat(40)}`}, 0)`
  for (const times of [1, 2]) {
    await sql`update payments.reversals set made_good_micro = 7 where payment_id = 'pay_needless'`
    await gaveBack({ sql, ask }, 'pay_needless', { reason: 'ticket 3', by: 'sari' })
    expect(asked).toBe(times)
  }
})

test('ops wallets taken-back reaches payments again after its record was taken back, and with a repeat once', async () => {
  const asked: { command: string; minor: string }[] = []
  const ask = (async (_: unknown, request: { command: string; minor: string }) => {
    asked.push(request)
    return { ok: { done: 'recorded' } }
  }) as unknown as Ask
  const record = (minor: string, transactionId = 'txn_taken') =>
    tookBack({ sql, ask }, { paymentId: 'pay_taken', transactionId, minor }, { reason: 'ticket 4', by: 'sari' })
  for (const minor of ['700', '0', '700', '0']) {
    expect(await record(minor)).not.toHaveProperty('earlier')
    expect(await record('300', 'txn_other')).toMatchObject({ done: 'recorded' })
    expect(await record(minor)).toMatchObject({ earlier: { by: 'sari' } })
  }
  expect(asked.map(({ minor }) => minor)).toEqual(['700', '300', '0', '700', '0'])
  expect(new Set(asked.map(({ command }) => command)).size).toBe(asked.length)
})

test('ops wallets taken-back repeats its command as long as the response is lost', async () => {
  const asked: string[] = []
  const ask = (async (_: unknown, { command }: { command: string }) => {
    asked.push(command)
    if (asked.length < 3) throw new Error('no response')
    return { ok: { done: 'recorded' } }
  }) as unknown as Ask
  const record = () =>
    tookBack(
      { sql, ask },
      { paymentId: 'pay_lost', transactionId: 'txn_lost', minor: '1' },
      { reason: 'ticket 5', by: 'sari' },
    )
  for (const _ of [1, 2]) expect(await record().catch(() => 'lost')).toBe('lost')
  expect(await record()).toMatchObject({ done: 'recorded' })
  expect(new Set(asked).size).toBe(1)
})

test('ops rates release releases a day again after another one', async () => {
  const stored: string[] = []
  const js = { publish: async (_: string, day: string) => stored.push(day) }
  const operator = { sql, bus: async () => ({ js }) } as unknown as Parameters<typeof released>[0]
  const release = (day: string) => released(operator, { pair: 'usd-idr', day }, { reason: 'ticket 6', by: 'sari' })
  for (const day of ['2026-11-20', '2026-11-19', '2026-11-20']) {
    expect(await release(day)).not.toHaveProperty('earlier')
    expect(await release(day)).toMatchObject({ earlier: { by: 'sari' } })
  }
  expect(stored).toEqual(['2026-11-20', '2026-11-19', '2026-11-20'])
})

describe('ops unexplained list', () => {
  const hash = (digit: string) => `0x${digit.repeat(64)}`
  const wallet = `0x${'5'.repeat(40)}`

  test('ops unexplained list lists unexplained AUSD that is still in the treasury, oldest first', async () => {
    for (const [digit, kind, key] of [
      ['1', 'in', `${wallet}:0x1`],
      ['2', 'in', null],
      ['3', 'in', `${wallet}:0x3`], // A cash-out took this AUSD.
      ['4', 'out', null],
      ['5', 'in', null], // This AUSD was accepted as capital.
      ['6', 'in', null], // This AUSD was returned.
    ] as const)
      await sql`
        insert into books.chain_moves
          (tx_hash, log_index, block, moved_at, kind, key, wallet, ausd_micro)
        values (${hash(digit)}, 3, 9, now() - ${`${digit} minutes`}::interval, ${kind}, ${key},
          ${wallet}, 5000000)`
    await sql`insert into books.names (key, kind, item) values (${`${wallet}:0x3`}, 'take', 'p1')`
    await sql`
      insert into books.journal (posting, line, event, item, account, asset, amount)
      values ('p', 0, 'e', ${`${hash('5')}:3`}, 'suspense', 'AUSD', 5),
        ('p', 1, 'e', ${`${hash('5')}:3`}, 'capital', 'AUSD', -5)`
    await sql`
      insert into chain_relayer.operation
        (id, kind, cause, wallet, payload, content_hash, leaves_micro, state)
      values ('back', 'giveback', 'c', '0x', '{}', 'h', 0, 'settled')`
    await sql`
      insert into chain_relayer.giveback_request
        (tx_hash, log_index, asked_by, reason, state, operation_id)
      values (${hash('6')}, 3, 'sari', 'ticket 11', 'ordered', 'back')`
    expect(await listUnexplained(sql)).toMatchObject([
      { name: `${hash('2')}:3`, wallet, ausdMicro: '5000000', state: null },
      { name: `${hash('1')}:3`, wallet, ausdMicro: '5000000', state: null },
    ])
  })
})

test('ops topups show names the time up to which the chain was read, if nothing came back until then', async () => {
  await sql`
    insert into payments.payments (id, kind, state, wallet, pair, currency, rate_minor_per_usd, fiat_minor, paid_minor,
      ausd_micro, onchain_micro, quote_id, request_fingerprint, account, provider_payment_id, credited_at, created_at)
    values ('pay_back', 'topup', 'credited', '0x5', 'USD/IDR', 'IDR', 1, 50000, 50000, 5000000, 5000000, 'pay_back', 'f', 'ID',
      'pay_back', '2026-11-24T01:00Z', '2026-11-24T00:59Z')`
  await sql`insert into books.checkpoints (source, block, read_to) values ('chain', 7, '2026-11-24T02:00Z')`
  const shown = (await showTopup(sql, 'pay_back')).text
  expect(shown).toContain('50,000 paid, 5.000000 AUSD given to 0x5')
  expect(shown).toContain('nothing came back until 2026-11-24T02:00:00.000Z: reconcile reads the blocks after that')
  await sql`
    insert into books.chain_moves (tx_hash, log_index, block, moved_at, kind, wallet, ausd_micro)
    values ('0xback', 3, 8, '2026-11-24T02:01Z', 'in', '0x5', 5000000)`
  expect((await showTopup(sql, 'pay_back')).text).toEndWith(
    'next: unexplained accept 0xback:3 --reason "AUSD of pay_back"',
  )
})

test('ops unexplained accept and reopen are recorded once per acceptance, and a refusal as one', async () => {
  const said = { reason: 'ticket 4', by: 'sari' }
  await sql`
    insert into books.provider_moves (account, transaction_id, type, status, product_id, currency, amount_minor, cashflow, read_at)
    values ('ID', 'txn_3', 'payout', 'succeeded', 'disb-3', 'IDR', 5, 'out', now())`
  const post = (item: string, posting: string, event: string, amount: number, reverses: string | null = null) => sql`
    insert into books.journal (posting, line, event, item, account, asset, amount, reverses)
    values (${posting}, 0, ${event}, ${item}, 'capital', 'IDR', ${amount}, ${reverses}),
      (${posting}, 1, ${event}, ${item}, 'provider_id', 'IDR', ${-amount}, ${reverses})`
  // An unmatched payout is accepted under the provider's id of the payout.
  for (const [target, item] of [
    ['txn_1', 'txn_1'],
    ['txn_3', 'disb-3'],
  ] as const)
    for (const time of [1, 2]) {
      const book = async () => void (await post(item, `accepted ${item} ${time}`, 'accepted as capital: ticket 4', -5))
      expect(await accepted({ sql }, target, said, book)).not.toHaveProperty('earlier')
      expect(await accepted({ sql }, target, said, book)).toHaveProperty('earlier')
      await post(item, `reversed ${item} ${time}`, 'reversed: it was wrong', 5, `accepted ${item} ${time}`)
    }
  const reopen = (book: () => Promise<void>) => reopened({ sql }, 'txn_1', said, book)
  expect(await reopen(async () => {})).toMatchObject({ done: 'txn_1 is unexplained again' })
  expect(await reopen(() => Promise.reject(new Error('asked twice')))).toHaveProperty('earlier')
  await post('txn_1', 'accepted txn_1 3', 'accepted as capital: ticket 4', -5)
  const stands = () => Promise.reject(new NotAcceptable('no longer'))
  expect(await reopen(stands)).toMatchObject({ refused: 'no longer' })
  const refuse = () => Promise.reject(new NotAcceptable('it moved nothing'))
  expect(await accepted({ sql }, 'txn_2', said, refuse)).toMatchObject({
    refused: 'it moved nothing',
  })
  expect((await readOperatorCommands(sql, { target: 'txn_1' })).map(({ outcome }) => outcome)).toEqual([
    'refused',
    'done',
    'done',
    'done',
  ])
})

describe('ops unexplained return', () => {
  const transfer = (digit: string) => ({ txHash: `0x${digit.repeat(64)}` as const, logIndex: 3 })
  const name = (digit: string) => `0x${digit.repeat(64)}:3`
  const said = { reason: 'ticket 12', by: 'sari' }
  const relayer = (digit: string, refusal: string | null = null) => {
    const asked: string[] = []
    const ask = (async (_: unknown, { command }: { command: string }) => {
      asked.push(command)
      await sql`
        insert into chain_relayer.giveback_request (tx_hash, log_index, asked_by, reason, state, refusal)
        values (${transfer(digit).txHash}, 3, 'sari', 'ticket 12',
          ${refusal === null ? 'asked' : 'refused'}, ${refusal}) on conflict do nothing`
      return { ok: { done: 'it is being decided' } }
    }) as unknown as Ask
    return { asked, ask }
  }
  const notedOf = async (digit: string): Promise<Partial<ListedCommand>[]> =>
    (await readOperatorCommands(sql, { target: name(digit) })).map(({ outcome, said: words }) => ({
      outcome,
      said: words,
    }))

  test('ops unexplained return prints why a return was refused, and the audit records the refusal, not a success', async () => {
    const { ask } = relayer('7', 'it was taken for cash-out p1')
    const words = 'return requested by sari (ticket 12), refused: it was taken for cash-out p1'
    expect(await returned({ sql, ask }, transfer('7'), said)).toMatchObject({ refused: words })
    expect(await notedOf('7')).toEqual([{ outcome: 'refused', said: words }])
  })

  test('ops unexplained return prints, when repeated, the transaction of an undecided return, and so does the audit', async () => {
    const { asked, ask } = relayer('8')
    const first = await returned({ sql, ask }, transfer('8'), { ...said, endsAt: 0 })
    expect(first).toMatchObject({
      awaited: expect.stringContaining('not decided yet; run the same command again'),
    })
    expect(await notedOf('8')).toEqual([{ outcome: null, said: null }])
    await sql`
      insert into chain_relayer.operation
        (id, kind, cause, wallet, payload, content_hash, leaves_micro, state, tx_hash)
      values ('eight', 'giveback', 'eight', '0x', '{}', 'h', 0, 'settled', '0x88')`
    await sql`
      update chain_relayer.giveback_request set state = 'ordered', operation_id = 'eight'
      where tx_hash = ${transfer('8').txHash}`
    const words = 'return requested by sari (ticket 12), returned in 0x88'
    expect(await returned({ sql, ask }, transfer('8'), said)).toMatchObject({ done: words })
    expect(await notedOf('8')).toEqual([{ outcome: 'done', said: words }])
    expect(asked).toHaveLength(1)
  })

  // guard: AUSD against which a top-up was refunded is not returned
  test('security: AUSD that came back for a refund is neither returned nor reopened, unless the refund failed', async () => {
    const { asked, ask } = relayer('a')
    const reopen = () => reopened({ sql }, name('a'), said, async () => {})
    await sql`insert into payments.returned_transfers (name, payment_id, deed_id)
      values (${name('a')}, 'pay_r', ${crypto.randomUUID()})`
    await sql`insert into payments.refund_orders (reference, payment_id, account, currency, provider_payment_id, minor, is_second)
      values ('ordered-pay_r_1', 'pay_r', 'ID', 'IDR', 'py-r', 5, false)`
    const refused = expect.stringContaining('pay_r was refunded because')
    for (const state of ['open', 'succeeded']) {
      await sql`update payments.refund_orders set state = ${state} where payment_id = 'pay_r'`
      expect(await returned({ sql, ask }, transfer('a'), said)).toMatchObject({ refused })
      expect(await reopen()).toMatchObject({ refused })
    }
    await sql`update payments.refund_orders set state = 'failed' where payment_id = 'pay_r'`
    expect(await reopen()).toHaveProperty('done')
    await returned({ sql, ask }, transfer('a'), { ...said, endsAt: 0 })
    expect(asked).toHaveLength(1)
  })

  // guard: AUSD whose return was requested is not accepted
  test('security: AUSD whose return was requested is not accepted, unless the return was refused or failed', async () => {
    const { ask } = relayer('b')
    const accept = () => accepted({ sql }, name('b'), said, async () => {})
    await returned({ sql, ask }, transfer('b'), { ...said, endsAt: 0 })
    const refused = `sari requested the return of ${name('b')}: it cannot be kept`
    expect(await accept()).toMatchObject({ refused })
    await sql`
      insert into chain_relayer.operation (id, kind, cause, wallet, payload, content_hash, leaves_micro, state, tx_hash)
      values ('b', 'giveback', 'bb', '0x', '{}', 'h', 0, 'waiting', '0xb')`
    await sql`update chain_relayer.giveback_request set state = 'ordered', operation_id = 'b' where tx_hash = ${transfer('b').txHash}`
    for (const state of ['waiting', 'settled']) {
      await sql`update chain_relayer.operation set state = ${state} where id = 'b'`
      expect(await accept()).toMatchObject({ refused })
    }
    await sql`update chain_relayer.operation set state = 'failed' where id = 'b'`
    expect(await accept()).toHaveProperty('done')
  })

  test('ops unexplained return repeats an unread refusal once and then asks again', async () => {
    const { asked, ask } = relayer('9')
    await returned({ sql, ask }, transfer('9'), { ...said, endsAt: 0 })
    await sql`
      update chain_relayer.giveback_request set state = 'refused', refusal = 'not final'
      where tx_hash = ${transfer('9').txHash}`
    expect(await returned({ sql, ask }, transfer('9'), said)).toMatchObject({
      refused: expect.stringContaining('refused: not final'),
    })
    expect(asked).toHaveLength(1)
    await returned({ sql, ask }, transfer('9'), { ...said, endsAt: 0 })
    expect(new Set(asked).size).toBe(2)
    expect(await notedOf('9')).toMatchObject([{ outcome: null }, { outcome: 'refused' }])
  })
})
