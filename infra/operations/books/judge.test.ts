import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { judge } from './judge'
import { rules } from './rules/catalogue'
import { returnInProgress } from './rules/rule'
import { type BooksDatabase, openBooksDatabase, plantCashouts, plantTopups, recordRead } from './test-support-rows'

let database: BooksDatabase
beforeAll(async () => {
  database = await openBooksDatabase()
  await plantTopups(database.admin, 1, 20)
  await plantCashouts(database.admin, 1, 10)
  await recordRead(database.admin)
})
afterAll(() => database?.[Symbol.asyncDispose]())

const run = (text: string) => database.admin.unsafe(text)
const fired = new Set<string>()
async function found(whole = false) {
  await recordRead(database.admin)
  const { breaks } = await judge(database.books, { whole })
  for (const { rule } of breaks) fired.add(rule)
  return breaks.map(({ rule, item, asset, amount }) => [rule, item, asset, amount])
}

test('judge finds no break and matches all value if rows, journals, chain and provider agree', async () => {
  expect(await found()).toEqual([])
  const { matched, items } = await judge(database.books, { whole: true })
  expect(items).toBe(30)
  expect(matched).toEqual([
    { asset: 'AUSD', agrees: 2_020_000_000n, differs: 0n },
    { asset: 'IDR', agrees: 32_825_000n, differs: 0n },
  ])
})

const payment = (set: string, item = 'pay_1') => `update payments.payments set ${set} where id = '${item}'`
const cashout = (set: string, item = 'out_1') => `update payouts.payouts set ${set} where id = '${item}'`
const move = (kind: string, key: string, more = '') => `
  insert into books.chain_moves (tx_hash, log_index, block, moved_at, kind, key, wallet, ausd_micro)
  values ('0xaa', 7, 5000, now(), '${kind}', ${key}, '0x01', 7)${more}`
const revocation = (micro: number, item = 'pay_1') => `
  insert into books.chain_moves (tx_hash, log_index, block, moved_at, kind, key, wallet, ausd_micro)
  select '0xaa', 7, 5000, now(), 'revoke', key, wallet, ${micro} from books.chain_moves
  where kind = 'credit' and key = (select key from books.names where item = '${item}')`
const unmove = `delete from books.chain_moves where tx_hash = '0xaa'`
const listed = (type: string, reference: string, amount: string, status = 'succeeded', currency = 'IDR') => `
  insert into books.provider_moves (account, transaction_id, type, status, reference, product_id,
    currency, amount_minor, changed_at)
  values ('ID', 'txn_x', '${type}', '${status}', ${reference}, 'p-x', '${currency}', ${amount}, now())`
/** Records that `txn_x` took shares of two payments. */
const takenBack = (first: number, second: number) => `
  insert into payments.refunds (id, payment_id, provider_payment_id, refunded_minor, status, origin)
    select 'chargeback:txn_x' || suffix, id, provider_payment_id, minor, 'succeeded', 'chargeback'
    from payments.payments join (values ('pay_1', '', ${first}), ('pay_2', ':pay_2', ${second})) s (of, suffix, minor)
      on of = id;
  update payments.payments set updated_at = now() where id in ('pay_1', 'pay_2')`
const unlisted = `delete from books.provider_moves where transaction_id = 'txn_x'`
const posting = (name: string, item: string, account: string, asset: string, amount: number, schema = 'payments') => `
  insert into ${schema}.journal (posting, line, event, item, account, asset, amount)
  values ('${name}', 0, 'by hand', '${item}', '${account}', '${asset}', ${amount}),
    ('${name}', 1, 'by hand', '${item}', 'exchange', '${asset}', ${-amount})`

type Found = [rule: string, item: string, asset: string, amount: bigint]

describe('judge reports a difference, and closes it when it is repaired:', () => {
  test.each<[string, string, string, Found[]]>([
    [
      'a state changed by hand',
      payment("state = 'expired'"),
      payment("state = 'credited'"),
      [
        ['row_journal', 'pay_1', 'AUSD', 100_000_000n],
        ['row_journal', 'pay_1', 'IDR', 1_625_000n],
        ['payment_chain', 'pay_1', 'AUSD', -100_000_000n],
      ],
    ],
    [
      'a state changed by hand while the clock of Postgres was ahead',
      payment("state = 'expired', updated_at = now() + interval '2 hours'"),
      payment("state = 'credited', updated_at = now()"),
      [
        ['row_journal', 'pay_1', 'AUSD', 100_000_000n],
        ['row_journal', 'pay_1', 'IDR', 1_625_000n],
        ['payment_chain', 'pay_1', 'AUSD', -100_000_000n],
      ],
    ],
    [
      'a sum changed by hand',
      payment('paid_minor = paid_minor + 7'),
      payment('paid_minor = paid_minor - 7'),
      [
        ['row_journal', 'pay_1', 'IDR', 7n],
        ['payment_provider', 'pay_1', 'IDR', -7n],
      ],
    ],
    [
      'a wallet changed by hand',
      payment("wallet = '0x02'"),
      payment("wallet = '0x' || lpad('1', 40, '0')"),
      [['effect_fits', 'pay_1', 'AUSD', 100_000_000n]],
    ],
    [
      'a hold changed by hand',
      payment('held = true'),
      payment('held = false'),
      [
        ['row_journal', 'pay_1', 'AUSD', 100_000_000n],
        ['effect_fits', 'pay_1', 'AUSD', 100_000_000n],
      ],
    ],
    [
      'a posting by hand',
      posting('by hand', 'pay_1', 'treasury', 'AUSD', 5),
      posting('reversed', 'pay_1', 'treasury', 'AUSD', -5),
      [['row_journal', 'pay_1', 'AUSD', 5n]],
    ],
    ['a credit without an order', move('credit', "'0xbb'"), unmove, [['ref_unknown', '0xaa:7', 'AUSD', 7n]]],
    [
      'a second credit under the ref of a payment',
      `insert into books.chain_moves (tx_hash, log_index, block, moved_at, kind, key, wallet, ausd_micro)
        select '0xaa', 7, 5000, now(), kind, key, wallet, ausd_micro from books.chain_moves
        where key = (select key from books.names where item = 'pay_1')`,
      unmove,
      [
        ['effect_twice', 'pay_1', 'AUSD', 200_000_000n],
        ['payment_effect', 'pay_1', 'AUSD', 100_000_000n],
        ['payment_chain', 'pay_1', 'AUSD', -100_000_000n],
      ],
    ],
    [
      'a revocation of a part that its row does not know',
      revocation(7),
      unmove,
      [
        ['payment_effect', 'pay_1', 'AUSD', -7n],
        ['payment_chain', 'pay_1', 'AUSD', 7n],
      ],
    ],
    [
      'a revocation of more than was credited',
      revocation(100_000_007),
      unmove,
      [
        ['effect_twice', 'pay_1', 'AUSD', -7n],
        ['payment_effect', 'pay_1', 'AUSD', -100_000_007n],
        ['payment_chain', 'pay_1', 'AUSD', 100_000_007n],
      ],
    ],
    [
      'a posting for an unknown item',
      posting('by hand for nothing', 'nothing', 'treasury', 'AUSD', 5),
      posting('reversed for nothing', 'nothing', 'treasury', 'AUSD', -5),
      [['treasury_books', 'treasury', 'AUSD', -5n]],
    ],
    [
      'money without an owner',
      posting('by hand without owner', 'no-owner', 'suspense', 'IDR', -500),
      posting('reversed without owner', 'no-owner', 'suspense', 'IDR', 500),
      [['suspense', 'no-owner', 'IDR', -500n]],
    ],
    [
      'a payout of a different amount than ordered',
      `update books.provider_moves set amount_minor = 32501 where transaction_id = 'txn_out_1'`,
      `update books.provider_moves set amount_minor = 32500 where transaction_id = 'txn_out_1'`,
      [
        ['payout_ordered', 'out_1', 'IDR', 1n],
        ['payout_provider', 'out_1', 'IDR', -1n],
      ],
    ],
    ['a transfer to the treasury', move('in', 'null'), unmove, [['treasury_moved', '0xaa:7', 'AUSD', 7n]]],
    ['a transfer from the treasury', move('out', 'null'), unmove, [['treasury_moved', '0xaa:7', 'AUSD', -7n]]],
    [
      'a refund at the dashboard',
      listed('refund', "'pay_1'", '1625000'),
      unlisted,
      [['payment_provider', 'pay_1', 'IDR', -1_625_000n]],
    ],
    [
      'a dispute in a currency whose amounts we cannot read',
      listed('chargeback', "'pay_1'", 'null', 'succeeded', 'SGD'),
      unlisted,
      [
        ['payment_provider', 'pay_1', 'SGD', 0n],
        ['provider_unknown', 'pay_1', 'SGD', 0n],
      ],
    ],
    [
      'a deposit at the provider without an amount',
      listed('unknown', "'own-1'", 'null', 'succeeded', 'SGD'),
      unlisted,
      [['provider_unknown', 'txn_x', 'SGD', 0n]],
    ],
    [
      'a second payment',
      listed('payment', "'pay_1'", '1625000'),
      unlisted,
      [['payment_provider', 'pay_1', 'IDR', 1_625_000n]],
    ],
    ['a payout by hand', listed('payout', "'mine'", '500'), unlisted, [['provider_unknown', 'txn_x', 'IDR', 500n]]],
    [
      'a deposit at the provider with an unknown reference',
      listed('unknown', "'own-1'", '500'),
      unlisted,
      [['provider_unknown', 'txn_x', 'IDR', 500n]],
    ],
    [
      'a movement of a payment with an unknown type',
      listed('unknown', "'pay_1'", '500', 'pending'),
      unlisted,
      [['provider_unknown', 'pay_1', 'IDR', 500n]],
    ],
    [
      'a deduction that operators recorded for two payments, whose rows have not followed',
      `${listed('unknown', 'null', '500')}; ${takenBack(200, 300)}`,
      `${unlisted}; delete from payments.refunds`,
      [
        ['payment_provider', 'pay_1', 'IDR', -200n],
        ['payment_provider', 'pay_2', 'IDR', -300n],
      ],
    ],
    [
      'a deduction of which operators recorded a part only',
      `${listed('unknown', "'pay_1'", '600')}; ${takenBack(200, 300)}`,
      `${unlisted}; delete from payments.refunds`,
      [
        ['payment_provider', 'pay_1', 'IDR', -200n],
        ['payment_provider', 'pay_2', 'IDR', -300n],
        ['provider_unknown', 'pay_1', 'IDR', 100n],
        ['provider_unknown', 'pay_2', 'IDR', 100n],
      ],
    ],
    [
      'a second pending payout of a cash-out',
      listed('payout', "'out_1'", '32500', 'pending'),
      unlisted,
      [['payout_once', 'out_1', 'IDR', 65_000n]],
    ],
    [
      'a cash-out marked as returned',
      cashout("state = 'returned'"),
      cashout("state = 'paid'"),
      [
        ['row_journal', 'out_1', 'AUSD', 2_000_000n],
        ['row_journal', 'out_1', 'IDR', -32_500n],
        ['payout_provider', 'out_1', 'IDR', -32_500n],
        ['payout_chain', 'out_1', 'AUSD', 2_000_000n],
      ],
    ],
    [
      'a payment missing from the provider list',
      `update books.provider_moves set status = 'failed' where transaction_id = 'txn_2'`,
      `update books.provider_moves set status = 'succeeded' where transaction_id = 'txn_2'`,
      [['payment_provider', 'pay_2', 'IDR', -1_625_000n]],
    ],
    [
      'an order that the relayer marks as failed',
      `update chain_relayer.operation set state = 'failed' where cause = 'pay_3'`,
      `update chain_relayer.operation set state = 'settled' where cause = 'pay_3'`,
      [['payment_effect', 'pay_3', 'AUSD', 0n]],
    ],
    [
      'a payment that stays in state paid',
      `alter table payments.payments disable trigger user; ${payment(
        "state = 'paid', credited_at = null, next_check_at = now(), updated_at = now() - interval '16 minutes', changed_at = now() - interval '16 minutes'",
      )}`,
      `${payment("state = 'credited', credited_at = now(), next_check_at = null")};
        alter table payments.payments enable trigger user`,
      [
        ['row_journal', 'pay_1', 'AUSD', 100_000_000n],
        ['overdue', 'pay_1', 'AUSD', 100_000_000n],
      ],
    ],
    [
      'a dead letter',
      `insert into payouts.dead_letter (consumer, message_id, subject, payload, reason)
        values ('payouts', 'm1', 's', '{}', 'r')`,
      `update payouts.dead_letter set redriven_at = now()`,
      [['dead_letter', 'm1', '-', 0n]],
    ],
    [
      'an unsent message',
      `insert into payouts.outbox (id, subject, payload, created_at)
        values ('m2', 's', '{}', now() - interval '2 minutes')`,
      `update payouts.outbox set published_at = now()`,
      [['unsent', 'm2', '-', 0n]],
    ],
    [
      'a treasury balance that differs from its transfers',
      `insert into books.balances (place, asset, amount, block, read_at)
        values ('treasury', 'AUSD', 1 - 20 * 100000000 + 10 * 2000000, 900, now())`,
      `update books.balances set amount = amount - 1`,
      [['treasury_balance', 'treasury', 'AUSD', 1n]],
    ],
    [
      'a lane that sent a transaction unknown to the relayer',
      `insert into books.balances (place, asset, amount, block, nonce, read_at)
        values ('lane:0x01', 'MON', 5, 900, 3, now() - interval '11 minutes')`,
      `update books.balances set read_at = now() where place = 'lane:0x01'`,
      [['lane_read', 'lane:0x01', 'MON', 0n]],
    ],
    [
      'a credit line that holds less AUSD than it owes',
      `insert into books.balances (place, asset, amount, block, read_at)
        values ('credit_line', 'AUSD', 29, 5001, now()), ('credit_line_owes', 'AUSD', 30, 5001, now())`,
      `update books.balances set amount = 30 where place = 'credit_line'`,
      [['credit_line_covered', 'credit_line', 'AUSD', -1n]],
    ],
  ])('judge reports and, after the repair, closes %s', async (_, plant, mend, expected) => {
    await run(plant)
    const [fromCheckpoint, whole] = [await found(), await found(true)]
    await run(mend)
    expect(await found()).toEqual([])
    expect(fromCheckpoint.sort()).toEqual([...expected].sort())
    expect(whole.sort()).toEqual([...expected].sort())
  })

  test('judge finds no break in a payment of which a refund was waived while its credit waits', async () => {
    const moved = (name: string, sign: 1 | -1) => {
      const lines = [
        ['provider_id', 'IDR', -812_500],
        ['exchange', 'IDR', 812_500],
        ['exchange', 'AUSD', -50_000_000],
        ['promises', 'AUSD', -100_000_000],
        ['waived', 'AUSD', 50_000_000],
        ['treasury', 'AUSD', 100_000_000],
        ['credit_line', 'AUSD', -100_000_000],
        ['collateral', 'AUSD', 100_000_000],
      ] as const
      return `insert into payments.journal (posting, line, event, item, account, asset, amount) values ${lines
        .map(
          ([account, asset, amount], line) =>
            `('${name}', ${line}, 'by hand', 'pay_1', '${account}', '${asset}', ${sign * amount})`,
        )
        .join(', ')}`
    }
    await run(
      `alter table payments.payments disable trigger user; ${payment(
        "state = 'paid', credited_at = null, next_check_at = now(), refunded_minor = 812500, written_off_micro = 50000000, updated_at = now()",
      )}; ${moved('waived', 1)}; ${listed('refund', "'pay_1'", '812500')}`,
    )
    const breaks = await found()
    await run(
      `${payment(
        "state = 'credited', credited_at = now(), next_check_at = null, refunded_minor = 0, written_off_micro = 0",
      )}; alter table payments.payments enable trigger user; ${moved('waived no more', -1)}; ${unlisted}`,
    )
    expect(await found()).toEqual([])
    expect(breaks).toEqual([])
  })

  test('judge reports a posting that does not balance', async () => {
    await run(`set session_replication_role = replica; insert into books.journal
      (posting, line, event, item, account, asset, amount) values ('p', 0, 'e', 'i', 'gas', 'MON', 9);
      set session_replication_role = origin`)
    expect(await found()).toEqual([
      ['posting_balances', 'i', 'MON', 9n],
      ['assets_balance', 'journals', 'MON', 9n],
    ])
    await run(`set session_replication_role = replica; delete from books.journal where posting = 'p';
      set session_replication_role = origin`)
    expect(await found()).toEqual([])
  })

  test('judge reports an account with a balance on its wrong side', async () => {
    await run(posting('gas back', 'x', 'clawback', 'AUSD', -5, 'books'))
    expect(await found()).toEqual([['account_side', 'clawback', 'AUSD', -5n]])
    await run(posting('gas again', 'x', 'clawback', 'AUSD', 5, 'books'))
    expect(await found()).toEqual([])
  })

  test('judge reports a provider balance that differs from the booked one, once the opening balance is booked', async () => {
    const bookedMinor = 20 * 1_625_000 - 10 * 32_500 + 1_000
    const say = (amount: number) =>
      run(`insert into books.balances (place, asset, amount, read_at)
        values ('provider_id', 'IDR', ${amount}, now() + interval '1 hour')
        on conflict (place, asset) do update set amount = excluded.amount`)
    await say(bookedMinor + 5)
    expect(await found()).toEqual([])
    await run(`insert into books.journal (posting, line, event, item, account, asset, amount)
      values ('began', 0, 'began', 'began', 'provider_id', 'IDR', 1000),
        ('began', 1, 'began', 'began', 'capital', 'IDR', -1000);
      insert into books.checkpoints (source, read_to) values ('opening:ID', now())`)
    expect(await found()).toEqual([['provider_balance', 'provider_id', 'IDR', 5n]])
    await say(bookedMinor)
    expect(await found()).toEqual([])
    await run(`insert into books.balances (place, asset, amount, read_at)
        values ('provider_my', 'MYR', 3, now() + interval '1 hour');
      insert into books.checkpoints (source, read_to) values ('opening:MY', now())`)
    expect(await found()).toEqual([['provider_balance', 'provider_my', 'MYR', 3n]])
    await run('delete from books.balances')
  })
})

test.each([
  ['what a wallet repaid needlessly', 'made_good_micro = 37', 7n],
  ['what an operator gave back', 'given_back_micro = 7', 7n],
  ['a waiver', 'cleared_at = now(), lost_micro = 37', 37n],
] as const)('judge reports %s that the journal of a reversal lacks', async (_, wrong, amount) => {
  const item = 'pay_2/reversal'
  const post = (name: string, sum: number) =>
    run(`insert into payments.journal (posting, line, event, item, account, asset, amount)
      values ('${name}', 0, 'given up', '${item}', 'owed_back', 'AUSD', ${-sum}),
        ('${name}', 1, 'given up', '${item}', 'clawback', 'AUSD', ${sum})`)
  const posting = crypto.randomUUID()
  const row = (set: string) =>
    run(`update payments.reversals set ${set}, updated_at = now() where payment_id = 'pay_2'`)
  await run(`insert into payments.reversals (payment_id, wallet, lost_micro, made_good_micro)
    values ('pay_2', '0x01', 0, 30)`)
  await post(posting, 30)
  expect(await found()).toEqual([])
  await row(wrong)
  expect(await found()).toEqual([['row_journal', item, 'AUSD', amount]])
  await row('made_good_micro = 30, lost_micro = 0, given_back_micro = 0, cleared_at = null')
  expect(await found()).toEqual([])
  await run(`delete from payments.reversals where payment_id = 'pay_2'`)
  expect(await found(true)).toEqual([['row_journal', item, 'AUSD', 30n]])
  await post(`${posting} reversed`, -30)
  expect(await found(true)).toEqual([])
})

test.each([
  [
    'is asked for',
    `insert into chain_relayer.giveback_request (tx_hash, log_index, asked_by, reason)
      values ('0x' || repeat('a', 64), 7, 'ops', 'not ours')`,
    'delete from chain_relayer.giveback_request',
  ],
  [
    'is being sent',
    `insert into chain_relayer.operation (id, kind, cause, wallet, payload, content_hash, leaves_micro, state)
      values ('op_back', 'giveback', '0x' || repeat('a', 64) || ':7', '0x01', '{"ausd": "7"}', 'h', 0, 'assigned')`,
    `delete from chain_relayer.operation where id = 'op_back'`,
  ],
])('judge says so if the return of a transfer %s, and names no second return', async (_, ask, undo) => {
  const item = `0x${'a'.repeat(64)}:7`
  await run(move('in', 'null').replace("'0xaa'", `'${item.split(':')[0]}'`))
  await run(ask)
  const { breaks } = await judge(database.books)
  const [found] = breaks.filter((one) => one.item === item)
  expect(found).toMatchObject({ rule: 'treasury_moved' })
  expect(found!.about).toEndWith(returnInProgress)
  await run(undo)
  await run(`delete from books.chain_moves where tx_hash = '${item.split(':')[0]}'`)
  await judge(database.books)
})

test('judge takes no dispute in another currency for money that the provider balance lacks', async () => {
  const bookedMinor = 20 * 1_625_000 - 10 * 32_500
  const say = (amount: number) =>
    run(`insert into books.balances (place, asset, amount, read_at)
      values ('provider_id', 'IDR', ${amount}, now() + interval '1 hour')
      on conflict (place, asset) do update set amount = excluded.amount`)
  const balanceBreaks = async () => (await found()).filter(([rule]) => rule === 'provider_balance')
  await run(`insert into books.checkpoints (source, read_to) values ('opening:ID', now())
    on conflict (source) do nothing`)
  const [before] = await run(
    `select coalesce(sum(amount), 0)::int as amount from books.journal where account = 'provider_id'`,
  )
  const wholeMinor = bookedMinor + before!.amount
  // The whole payment is booked as lost, and the provider lists the dispute in dollars only.
  await run(posting('lost', 'pay_1', 'provider_id', 'IDR', -1_625_000))
  await run(listed('chargeback', "'pay_1'", 'null', 'succeeded', 'USD'))
  await say(wholeMinor - 1_625_000)
  expect(await balanceBreaks()).toEqual([])
  await say(wholeMinor - 1_600_000)
  expect(await balanceBreaks()).toEqual([['provider_balance', 'provider_id', 'IDR', 25_000n]])
  await run(posting('found', 'pay_1', 'provider_id', 'IDR', 1_625_000))
  await run(unlisted)
  await run('delete from books.balances')
})

test('every rule has a planted break that it reports', () => {
  expect(rules.map(({ name }) => name).filter((name) => !fired.has(name))).toEqual([])
})
