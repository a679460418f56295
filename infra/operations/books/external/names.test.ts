import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { refOf } from '#shared/chain/ref'
import { actors } from '#test/support/contracts'
import { type BooksFixture, openBooksFixture } from '../test-support'
import { readNames } from './names'
import { insertCashout, insertPayment, nonceOf } from './test-support'

let fixture: BooksFixture
beforeAll(async () => {
  fixture = await openBooksFixture()
})
afterAll(() => fixture.close())

type Row = { key: string; kind: string; item: string; ref_sequence: number }
const namesOf = async (item: string) =>
  (
    await fixture.admin<Row[]>`
      select * from books.names where item = ${item} order by kind desc, ref_sequence`
  ).map(({ key, kind, ref_sequence }) => [kind, ref_sequence, key])

test('a payment is found by the ref of each of its parts, including later ones', async () => {
  await insertPayment(fixture.admin, 'pay_1')
  await readNames(fixture.copy())
  expect(await namesOf('pay_1')).toEqual([['ref', 0, refOf('pay_1')]])
  await fixture.admin`update payments.payments set ref_sequence = 2 where id = 'pay_1'`
  await readNames(fixture.copy())
  expect(await namesOf('pay_1')).toEqual([
    ['ref', 0, refOf('pay_1')],
    ['ref', 1, refOf('pay_1.1')],
    ['ref', 2, refOf('pay_1.2')],
  ])
})

test('a cash-out is found by the authorizations of its take and its return, in lower case', async () => {
  const nonce = nonceOf('take')
  const authorizer = actors.ana.address
  await insertCashout(fixture.admin, 'out_1', {
    authorizer,
    nonce: `0x${nonce.slice(2).toUpperCase()}`,
  })
  await readNames(fixture.copy())
  expect(await namesOf('out_1')).toEqual([
    ['take', 0, `${authorizer}:${nonce}:5`.toLowerCase()],
    ['return', 0, `${actors.treasury.address}:${refOf('return:out_1')}:5`.toLowerCase()],
  ])
})

test('rows that changed at the same moment are all read once, also by two instances', async () => {
  await fixture.admin`
    insert into payments.payments (id, kind, state, wallet, pair, currency, rate_minor_per_usd,
      fiat_minor, ausd_micro, quote_id, request_fingerprint, account)
    select 'many_' || n, 'topup', 'opening', '0x1', 'USD/IDR', 'IDR', 1, 1, 1, 'many ' || n, 'x', 'ID'
    from generate_series(1, 1200) n`
  // The rows get equal times, so that they differ only in their ids.
  await fixture.admin`alter table payments.payments disable trigger stamp_change`
  await fixture.admin`update payments.payments set changed_at = '2026-01-01' where id like 'many_%'`
  await fixture.admin`alter table payments.payments enable trigger stamp_change`
  await fixture.admin`truncate books.names, books.checkpoints`
  await Promise.all([readNames(fixture.copy()), readNames(fixture.copy())])
  const [count] = await fixture.admin`
    select count(*)::int as count from books.names where item like 'many_%'`
  expect(count!.count).toBe(1_200)
})

async function changedAgo(id: string, minutes: number): Promise<void> {
  const { admin } = fixture
  await admin`alter table payments.payments disable trigger stamp_change`
  await admin`update payments.payments set changed_at = now() - ${minutes} * interval '1 minute' where id = ${id}`
  await admin`alter table payments.payments enable trigger stamp_change`
}

test('a reading covers only rows changed since the last one, with a margin', async () => {
  await fixture.admin`truncate books.names`
  await changedAgo('pay_1', 3)
  await readNames(fixture.copy())
  expect(await namesOf('pay_1')).toEqual([])
  await changedAgo('pay_1', 1)
  await readNames(fixture.copy())
  expect(await namesOf('pay_1')).toHaveLength(3)
})

describe('after the clock of Postgres was ahead for a moment', () => {
  const ahead = async () => {
    const { admin } = fixture
    await admin`update books.checkpoints set read_to = now() + interval '2 hours' where source like 'names:%'`
    await admin`truncate books.names, books.runs`
    await admin`insert into books.runs (started_at, ended_at, whole, items, open)
      select at, at, false, 0, 0 from (values (now() - interval '5 minutes'), (now() + interval '2 hours')) runs(at)`
  }
  const changed = async (id: string, minutesAgo: number) => {
    await insertPayment(fixture.admin, id)
    await changedAgo(id, minutesAgo)
  }

  test('rows are read from the last comparison before it', async () => {
    await ahead()
    await changed('pay_missed', 4)
    await changed('pay_known', 30)
    await readNames(fixture.copy())
    expect(await namesOf('pay_missed')).toHaveLength(1)
    expect(await namesOf('pay_known')).toEqual([])
  })

  test('rows are read from the beginning if no comparison is from before it', async () => {
    await ahead()
    await fixture.admin`delete from books.runs where started_at < now()`
    await readNames(fixture.copy())
    expect(await namesOf('pay_known')).toHaveLength(1)
  })

  test('the checkpoint is set back to the time of the reading', async () => {
    await ahead()
    await readNames(fixture.copy())
    const rows =
      await fixture.admin`select source from books.checkpoints where source like 'names:%' and read_to > now()`
    expect(rows).toHaveLength(0)
  })
})

test('a whole reading finds the rows that changed while the clock of Postgres was behind', async () => {
  await readNames(fixture.copy())
  await insertPayment(fixture.admin, 'pay_behind')
  await changedAgo('pay_behind', 120)
  await readNames(fixture.copy())
  expect(await namesOf('pay_behind')).toEqual([])
  await readNames(fixture.copy(), true)
  expect(await namesOf('pay_behind')).toHaveLength(1)
})
