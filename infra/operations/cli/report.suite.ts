import { beforeAll, describe, expect, test } from 'bun:test'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { okOf } from '#shared/client/client'
import { type AccountName, type Asset, accountNames, chart } from '#shared/ledger/chart'
import { decimals } from '#shared/money/money'
import { groupStack } from '#test/runner/group'
import { query } from '#test/support/database'
import { creditedTopUp, type Flow } from '#test/support/flows'
import { verifiedUser } from '#test/support/people'
import { operate } from '#test/support/stack'

let stack: Stack
let day: string
let topup: Flow
beforeAll(async () => {
  stack = groupStack()
  topup = await creditedTopUp(stack, await verifiedUser(stack))
  const [row] = await query<{ day: string }>(
    stack,
    `select to_char(now() at time zone 'Asia/Jakarta', 'YYYY-MM-DD') as day`,
  )
  day = row!.day
})

/** Turns a decimal of the report back into the smallest unit, without the code that wrote it. */
function minorOf(text: string, asset: Asset): bigint {
  const [, minus = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text)!
  expect(fraction).toHaveLength(asset === 'MON' ? 18 : decimals[asset])
  return BigInt(minus + whole + fraction)
}

const previous = (of: string) => new Date(Date.parse(`${of}T00:00:00Z`) - 86_400_000).toISOString().slice(0, 10)

async function rowsOf(of: string) {
  const { code, said } = await operate(stack, 'report', '--day', of, '--csv')
  expect(code).toBe(0)
  const [head, ...lines] = said.trimEnd().split('\n')
  expect(head).toBe('day,status,account,asset,opening,debits,credits,closing')
  return lines.map((line) => {
    const [, status, account, asset, ...amounts] = line.split(',')
    const [opening, debits, credits, closing] = amounts.map((amount) => minorOf(amount, asset as Asset))
    return { status, account, asset, opening: opening!, debits: debits!, credits: credits!, closing: closing! }
  })
}

/** Sums of the four journals, read without the code of the report. */
async function booked(before = 'infinity') {
  const journals = ['payments', 'payouts', 'chain_relayer', 'books']
  const lines = journals.map((schema) => `select account, asset, amount, booked_at from ${schema}.journal`)
  const rows = await query<{ of: string; sum: string }>(
    stack,
    `select account || ' ' || asset as of, sum(amount)::text as sum
    from (${lines.join(' union all ')}) l where booked_at < '${before}' group by 1`,
  )
  return new Map(rows.map(({ of, sum }) => [of, BigInt(sum)]))
}

describe('ops report', () => {
  test('the CSV of a day, added up, equals the journals at its beginning and its end', async () => {
    // The relayer books gas at any time, so the day is read between two equal readings of the journals.
    let [rows, before, after] = [await rowsOf(day), await booked(), await booked()]
    for (let tries = 0; tries < 20; tries++) {
      ;[before, rows, after] = [await booked(), await rowsOf(day), await booked()]
      if (Bun.deepEquals(before, after)) break
    }
    const opened = await booked(`${previous(day)} 17:00:00+00`)
    for (const { account, asset, opening, debits, credits, closing } of rows) {
      const of = `${account} ${asset}`
      expect([of, opening, closing]).toEqual([of, opened.get(of) ?? 0n, after.get(of) ?? 0n])
      expect([of, opening + debits - credits]).toEqual([of, closing])
    }
    for (const asset of new Set(rows.map((row) => row.asset))) {
      const own = rows.filter((row) => row.asset === asset)
      const sum = (of: 'opening' | 'debits' | 'credits' | 'closing') => own.reduce((total, row) => total + row[of], 0n)
      expect([sum('opening'), sum('debits') - sum('credits'), sum('closing')]).toEqual([0n, 0n, 0n])
    }
    expect(rows.find(({ account }) => account === 'credit_line')!.debits).toBeGreaterThan(0n)
    expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(['open']))
  })

  test('a day ends where the next one begins', async () => {
    const [ended, begun] = [await rowsOf(previous(day)), await rowsOf(day)]
    expect(ended.map(({ closing }) => closing)).toEqual(begun.map(({ opening }) => opening))
  })

  test('with --json the report has the same rows as the CSV, and whether the day is over', async () => {
    const { code, said } = await operate(stack, 'report', '--day', previous(day), '--json')
    expect(code).toBe(0)
    const { status, timeZone, accounts } = JSON.parse(said)
    expect({ status, timeZone }).toEqual({ status: 'final', timeZone: 'Asia/Jakarta' })
    const listed: { account: AccountName; asset: Asset }[] = accounts
    const wanted = accountNames.flatMap((account) => chart[account].assets.map((asset: Asset) => ({ account, asset })))
    expect(listed.map(({ account, asset }) => ({ account, asset }))).toEqual(wanted)
  })

  test('fiat paid by QRIS is unsettled, with the day on which it is expected and the AUSD given for it', async () => {
    const listed = () => operate(stack, 'report', '--day', day, '--csv', '--unsettled')
    const row = await waitUntil('the settlement that the provider reports', async () => {
      await operate(stack, 'reconcile')
      const lines = (await listed()).said.split('\n').map((line) => line.split(','))
      return lines.find(([, , item, , , , expected]) => item === topup.id && expected !== '')
    })
    const [, , , account, asset, received, expected, given] = row
    expect([account, asset, received, minorOf(given!, 'AUSD')]).toEqual(['provider_id', 'IDR', '50000', topup.micro])
    // It is due after two days, or on the Monday after a weekend.
    const days = (Date.parse(expected!) - Date.parse(day)) / 86_400_000
    expect([2, 3, 4]).toContain(days)
    expect((await operate(stack, 'report', '--day', day)).said).toContain(`expected ${expected}: `)
  })

  test.each([
    [['--unsettled'], '--unsettled selects the rows of --csv'],
    [['--csv', '--json'], 'choose one of --csv and --json'],
  ])('the options %p are refused, instead of one being left out', async (options, error) => {
    const { code, said } = await operate(stack, 'report', '--day', day, ...options)
    expect([code, said]).toEqual([2, expect.stringContaining(error)])
  })

  test('a day that has not begun is not reported', async () => {
    const { code, said } = await operate(stack, 'report', '--day', '2999-01-01')
    expect([code, said.trim()]).toEqual([1, '2999-01-01 has not begun'])
  })
})

describe('while Postgres is read only', () => {
  /** Only operators' commands open new connections as this role. */
  const readOnly = (to: 'on' | 'off') => query(stack, `alter role ops set default_transaction_read_only = ${to}`)

  test('the questions of an incident are answered, and a command that writes says why it cannot', async () => {
    const wallet = topup.person.account.address.toLowerCase()
    const asked = [
      ['books'],
      ['books', 'verify'],
      ['report', '--day', previous(day)],
      ['report', '--day', day, '--csv', '--unsettled'],
      ['trace', topup.id],
      ['trace', wallet],
      ['find', '--wallet', wallet],
      ['in-flight'],
      ['unexplained', 'list'],
      ['persons', 'exchanges', wallet, '--year', day.slice(0, 4)],
    ]
    await readOnly('on')
    try {
      for (const words of asked) expect([words, (await operate(stack, ...words)).complaint]).toEqual([words, ''])
      expect((await operate(stack, 'status')).said).toContain('books ')
      for (const words of [['reconcile'], ['pause', 'topups', '--reason', 'drill', '--by', 'sari']]) {
        const { code, complaint } = await operate(stack, ...words)
        expect([code, complaint]).toEqual([
          1,
          expect.stringContaining('Postgres is read only, and this command writes'),
        ])
      }
    } finally {
      await readOnly('off')
    }
    expect((await operate(stack, 'reconcile')).complaint).toBe('')
  })
})

test('ops persons exchanges has the top-up of a user, in local money and AUSD, in the year in which it was made', async () => {
  const fileOf = (year: string) =>
    operate(stack, 'persons', 'exchanges', topup.person.account.address, '--year', year, '--json').then(({ said }) =>
      JSON.parse(said),
    )
  const { status, exchanges } = await fileOf(day.slice(0, 4))
  expect(status).toBe('open')
  expect(exchanges).toHaveLength(1)
  const [{ kind, item, currency, fiat_paid: paid, ausd_received: received }] = exchanges
  expect([kind, item, currency, paid]).toEqual(['topup', topup.id, 'IDR', '50000'])
  expect(minorOf(received, 'AUSD')).toBe(topup.micro)
  expect((await fileOf('2025')).exchanges).toEqual([])
})

describe('ops find', () => {
  const found = async (...words: string[]) => {
    const { code, said } = await operate(stack, 'find', ...words, '--json')
    expect(code).toBe(0)
    return JSON.parse(said) as { items: { item: string; wallet: string }[]; users: string[] }
  }
  const wallet = () => topup.person.account.address.toLowerCase()

  test('a top-up that a user names only by its amount and its hour is found', async () => {
    const from = new Date(Date.now() - 3_600_000).toISOString()
    const { items } = await found('--amount', '50000', '--currency', 'IDR', '--from', from, '--channel', 'QRIS')
    expect(items.map(({ item }) => item)).toContain(topup.id)
    expect((await found('--amount', '50001', '--currency', 'IDR', '--from', from)).items).toEqual([])
  })

  test('a top-up is found by the number on the payer’s receipt, which the user sees too', async () => {
    const { bankReceipt, issuer } = okOf(await topup.person.api.item(topup.id))
    expect([bankReceipt, issuer]).toEqual([expect.stringMatching(/^[0-9]{12}$/), 'DANA'])
    expect((await found('--receipt', bankReceipt!)).items.map(({ item }) => item)).toEqual([topup.id])
    expect((await found('--receipt', `${bankReceipt}0`)).items).toEqual([])
  })

  test('a search that cannot find anything is refused', async () => {
    const fault = async (...words: string[]) => {
      const { code, said } = await operate(stack, 'find', ...words)
      expect(code).not.toBe(0)
      return said
    }
    expect(await fault('--digits', '12')).toContain('at least three')
    expect(await fault('--digits', '1234', '--kind', 'topup')).toContain('cash-outs only')
    expect(await fault('--receipt', '1', '--kind', 'cashout')).toContain('top-ups and settlements only')
    expect(await fault('--receipt', '1', '--digits', '1234')).toContain('choose one')
  })

  test('the users of an outage are those with an item in progress within it', async () => {
    const from = new Date(Date.now() - 3_600_000).toISOString()
    expect((await found('--affected', '--from', from)).users).toContain(wallet())
    expect((await operate(stack, 'find', '--affected', '--from', from, '--users')).said).toContain(
      `${wallet()}  1 item`,
    )
    const before = await found('--affected', '--from', '2025-01-01', '--to', '2025-01-02', '--wallet', wallet())
    expect(before.items).toEqual([])
  })

  test('a list has one line for each item, with its amounts, its channel and its wallet', async () => {
    const { said } = await operate(stack, 'find', '--wallet', wallet())
    expect(said).toStartWith('1 item of 1 user\n')
    expect(said).toMatch(new RegExp(`topup  ${topup.id}  credited  50000 IDR, [0-9.]+ AUSD  QRIS  ${wallet()}`))
    const csv = (await operate(stack, 'find', '--wallet', wallet(), '--csv')).said
    expect(csv).toStartWith('created,updated,kind,item,state,reason,currency,fiat,ausd,channel,wallet\n')
  })
})
