import { afterAll, beforeAll, expect, test } from 'bun:test'
import { explainBreak } from './explain'
import { judge } from './judge'
import { type BooksDatabase, openBooksDatabase, plantTopups, recordRead } from './test-support-rows'

let database: BooksDatabase
beforeAll(async () => {
  database = await openBooksDatabase()
  await plantTopups(database.admin, 1, 20)
  await recordRead(database.admin)
})
afterAll(() => database?.[Symbol.asyncDispose]())

const run = (text: string) => database.admin.unsafe(text)
async function found() {
  await recordRead(database.admin)
  return (await judge(database.books)).breaks
}
const payment = (set: string, item = 'pay_1') => `update payments.payments set ${set} where id = '${item}'`

test('a break keeps its age while it stays open, and a new one starts at 0', async () => {
  const ages = async () => {
    await recordRead(database.admin)
    const { breaks } = await judge(database.books)
    return breaks.map(({ id, foundAt, standing }) => ({ id, at: foundAt.getTime(), standing }))
  }
  await run(payment("wallet = '0x02'"))
  const [first] = await ages()
  expect(first!.standing).toBe('young')
  expect(await ages()).toEqual([first!])
  await run(`update books.breaks set found_at = now() - interval '1 hour' where closed_at is null`)
  expect((await ages())[0]!.standing).toBe('counts')
  const explained = { owner: 'Ana', reason: 'ticket 7', until: new Date(Date.now() + 3_600_000) }
  expect(await explainBreak(database.books, first!.id, explained)).toBe(true)
  expect((await ages())[0]!.standing).toBe('rests')
  await run(payment("wallet = '0x' || lpad('1', 40, '0')"))
  expect(await ages()).toEqual([])
  expect(await explainBreak(database.books, first!.id, explained)).toBe(false)
  await run(payment("wallet = '0x02'"))
  const [again] = await ages()
  expect(again).toMatchObject({ standing: 'young' })
  expect(again!.id).not.toBe(first!.id)
  await run(payment("wallet = '0x' || lpad('1', 40, '0')"))
  await ages()
})

// guard: an explanation mutes no larger difference than the one explained
test('an explanation does not mute a difference that stays larger than the explained one beyond its grace period', async () => {
  const own = async () => (await found()).find(({ rule }) => rule === 'payment_provider')
  await run(payment('paid_minor = paid_minor + 7'))
  const { id } = (await own())!
  const explained = { owner: 'Ana', reason: 'ticket 7', until: new Date(Date.now() + 3_600_000) }
  await explainBreak(database.books, id, explained)
  expect(await own()).toMatchObject({ id, standing: 'rests' })
  await run(payment('paid_minor = paid_minor + 7000'))
  expect(await own()).toMatchObject({ id, standing: 'rests' })
  await run(`update books.breaks set found_at = found_at - interval '1 hour', exceeded_at = exceeded_at - interval '1 hour'
    where closed_at is null`)
  expect(await own()).toMatchObject({ id, standing: 'counts' })
  await explainBreak(database.books, id, explained)
  expect(await own()).toMatchObject({ standing: 'rests' })
  await run(payment('paid_minor = paid_minor - 7003'))
  expect(await own()).toMatchObject({ standing: 'rests' })
  await run(payment('paid_minor = paid_minor - 4'))
  expect(await found()).toEqual([])
})

test('concurrent reconciliations run one after the other and find the same breaks', async () => {
  await run(payment('paid_minor = paid_minor + 7'))
  const all = await Promise.all([1, 2, 3, 4].map(() => judge(database.books)))
  expect(new Set(all.map(({ breaks }) => breaks.map(({ id }) => id).join())).size).toBe(1)
  await run(payment('paid_minor = paid_minor - 7'))
  expect(await found()).toEqual([])
})

test('a reconciliation skips items unchanged since the checkpoint', async () => {
  const old = "now() - interval '1 day'"
  const off = (verb: string) => run(`alter table payments.payments ${verb} trigger user`)
  await off('disable')
  await plantTopups(database.admin, 101, 150, old)
  await run(`update payments.payments set changed_at = created_at where created_at < now() - interval '1 hour'`)
  await off('enable')
  await judge(database.books, { whole: true })
  const { items } = await judge(database.books)
  const whole = await judge(database.books, { whole: true })
  expect(whole.items - items).toBeGreaterThanOrEqual(50)
  await run(payment('paid_minor = paid_minor + 7', 'pay_101'))
  expect(await found()).toHaveLength(2)
  await run(payment('paid_minor = paid_minor - 7', 'pay_101'))
  expect(await found()).toEqual([])
})
