import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { openLog } from '#platform/log'
import { insertPayment } from './external/test-support'
import { openReconciliation } from './reconciliation'
import { type BooksFixture, openBooksFixture } from './test-support'

let fixture: BooksFixture
beforeAll(async () => {
  fixture = await openBooksFixture()
})
afterAll(() => fixture?.close())

const minuteMs = 60_000
const raised: { msg: string; alarm?: boolean }[] = []
beforeEach(() => {
  raised.length = 0
})
let steadyMs = minuteMs

/** Opens the job, with a clock that is set by hand. */
function open(change: Parameters<BooksFixture['copy']>[0] = {}) {
  const write = (line: string) => {
    const logged = JSON.parse(line)
    if (logged.alarm) raised.push(logged)
  }
  const log = openLog('operations', 'info', { write })
  return openReconciliation(fixture.copy(change), { log, wholeEveryMs: 24 * 60 * minuteMs, steady: () => steadyMs })
}

describe('the job that reconciles the books raises an alert', () => {
  test('about a break, once an hour while it is open', async () => {
    await fixture.finalize()
    const { reconcileOnce } = open()
    await reconcileOnce()
    expect(raised).toEqual([])
    // A payment whose money is in no journal.
    await insertPayment(fixture.admin, 'pay_1')
    await fixture.admin`update payments.payments set state = 'credited', paid_minor = 5, paid_at = now(),
      provider_payment_id = 'py-1' where id = 'pay_1'`
    await reconcileOnce()
    const known =
      await fixture.admin`select id, rule, item, asset from books.breaks where closed_at is null order by id`
    const lines = known.map(({ id, ...what }) => ({ msg: 'reconciliation break open', break: id, ...what }))
    expect(lines.length).toBeGreaterThan(0)
    const about = {
      amount: expect.stringMatching(/\d/),
      about: expect.stringMatching(/journal/),
      ageMs: expect.any(Number),
    }
    expect(raised).toMatchObject(lines.map((line) => ({ ...line, ...about })))
    await reconcileOnce()
    expect(raised).toHaveLength(lines.length)
    steadyMs += 61 * minuteMs
    await reconcileOnce()
    expect(raised).toHaveLength(2 * lines.length)
    await fixture.admin`delete from payments.payments where id = 'pay_1'`
    steadyMs += 61 * minuteMs
    await reconcileOnce()
    expect(raised).toHaveLength(2 * lines.length)
  })

  test('about a chain that cannot be read for a quarter of an hour', async () => {
    const { reconcileOnce } = open({ place: { ...fixture.place, rpcUrls: ['http://127.0.0.1:1'] } })
    await reconcileOnce()
    expect(raised).toEqual([])
    steadyMs += 16 * minuteMs
    await reconcileOnce()
    const msg = 'chain or provider read failed, will retry'
    expect(raised).toMatchObject([{ msg, says: expect.stringMatching(/\w/) }])
  })
})

test('after the clock of Postgres was set, the books are compared from the beginning once it is no longer behind', async () => {
  const clock = { ms: Date.now(), steps: 0 }
  const { reconcileOnce } = open({ clock: () => clock.ms, clockSteps: () => clock.steps })
  const wasWhole = async () => {
    await reconcileOnce()
    const [last] = await fixture.admin`select whole from books.runs order by id desc limit 1`
    return last!.whole as boolean
  }
  const setBy = (ms: number) => {
    clock.ms += ms
    clock.steps += 1
  }
  expect(await wasWhole()).toBe(false)
  setBy(-2 * 60 * minuteMs)
  expect(await wasWhole()).toBe(false)
  setBy(2 * 60 * minuteMs)
  expect(await wasWhole()).toBe(true)
  expect(await wasWhole()).toBe(false)
  // The clock is behind only between two comparisons.
  setBy(-2 * 60 * minuteMs)
  setBy(2 * 60 * minuteMs)
  expect(await wasWhole()).toBe(true)
})
