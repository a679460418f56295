import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { reverse } from '#shared/ledger/journal.store'
import { bookCorrected } from '#shared/ledger/keeping'
import type { ActivityEntry } from '#shared/messages/activity'
import type { StatementEntry } from '#shared/messages/statement'
import { cashouts } from '../cashout.table'
import { positions } from '../ledger/tables'
import { inbox, journal } from '../schema.store'
import { type Fixture, openFixture, wallet } from '../test-support'
import { answerEnding } from './activity'
import { answerStatement } from './statement'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

type Part = { opening: object; items: StatementEntry[] }
const statement = async (from = '2026-01-01T00:00:00.000Z', to = '2100-01-01T00:00:00.000Z') => {
  const answered = await answerStatement(fixture.context).answer({ wallet, from, to })
  return (answered as { ok: Part }).ok
}
const linesOf = (id: string, { items }: Part) =>
  items.filter((line) => line.id === id).map(({ kind, in: more, out: less }) => [kind, more, less])

test('a statement has a line for each step of a cash-out: the order, and its transfer to the bank', async () => {
  const id = await fixture.taken()
  const { fiatMinor } = await fixture.until(id, 'paid')
  const whole = await statement()
  const payouts = String(fiatMinor)
  expect(linesOf(id, whole)).toEqual([
    ['cashout', { payouts }, {}],
    ['cashout_paid', {}, { payouts }],
  ])
  const [ordered, paid] = whole.items.filter((line) => line.id === id)
  const later = await statement(paid!.at)
  expect([ordered!.at < paid!.at, linesOf(id, later)]).toEqual([true, [['cashout_paid', {}, { payouts }]]])
  expect(later.opening).toMatchObject({ payouts })
})

test('a statement does not list a correction of the books, in which nothing happened to the cash-out', async () => {
  const id = await fixture.taken()
  await fixture.until(id, 'paid')
  const before = linesOf(id, await statement())
  const rows = () => fixture.database.read((db) => db.select().from(journal).where(eq(journal.item, id)))
  const { posting } = (await rows()).find(({ account }) => account === 'payouts')!
  await fixture.database.transaction((tx) => reverse(tx, journal, { posting, reason: 'ticket 12' }))
  await bookCorrected({ ...fixture.context, journal, inbox, positions })
  expect(new Set((await rows()).map(({ event }) => event))).toContain('booked anew')
  expect(linesOf(id, await statement())).toEqual(before)
})

test('a statement shows that the AUSD of a refused cash-out went back to the wallet', async () => {
  const id = await fixture.taken({ bank: { accountNumber: '999999' } })
  const { fiatMinor, ausdMicro } = await fixture.until(id, 'returning')
  await fixture.relayed('return', id)
  const [payouts, inFlight] = [String(fiatMinor), String(ausdMicro)]
  expect(linesOf(id, await statement())).toEqual([
    ['cashout', { payouts }, {}],
    ['cashout_returning', { inFlight }, { payouts }],
    ['cashout_returned', {}, { inFlight }],
  ])
})

test('a cash-out is found by the last digits of its bank account until these are erased', async () => {
  const [id, other] = [await fixture.taken(), await fixture.taken({ bank: { accountNumber: '1234567777' } })]
  const ending = async (digits: string) => {
    const answered = await answerEnding(fixture.context).answer({ digits, payoutIds: [id, other, crypto.randomUUID()] })
    return (answered as { ok: { payoutIds: string[] } }).ok.payoutIds
  }
  expect([await ending('7890'), await ending('7777'), await ending('67890')]).toEqual([[id], [other], [id]])
  expect(await ending('1234')).toEqual([])
  await fixture.context.database.run((db) => db.update(cashouts).set({ accountMark: null }).where(eq(cashouts.id, id)))
  expect(await ending('7890')).toEqual([])
})

test('a cash-out is found by its whole account number, with or without the leading zeros that some banks add', async () => {
  const id = await fixture.taken({ bank: { accountNumber: '1234567891' } })
  const ending = async (digits: string) => {
    const answered = await answerEnding(fixture.context).answer({ digits, payoutIds: [id] })
    return (answered as { ok: { payoutIds: string[] } }).ok.payoutIds
  }
  expect([await ending('1234567891'), await ending('01234567891')]).toEqual([[id], [id]])
  expect(await ending('91234567891')).toEqual([])
})

test('a cash-out whose account cannot be decrypted is counted by a search, because it may be the one', async () => {
  const [id, erased] = [await fixture.taken(), await fixture.taken()]
  const set = (of: string, row: object) =>
    fixture.database.run((db) => db.update(cashouts).set(row).where(eq(cashouts.id, of)))
  await set(id, { bankDetailsKeyId: 'removed' })
  await set(erased, { bankDetails: '', bankDetailsKeyId: 'erased', accountMark: null })
  const answered = await answerEnding(fixture.context).answer({ digits: '7890', payoutIds: [id, erased] })
  expect(answered).toEqual({ ok: { payoutIds: [], unreadable: 1 } })
})

test('a cash-out names its bank and the last four digits of the account until these are erased', async () => {
  const id = await fixture.taken()
  const shown = async (): Promise<ActivityEntry['bank'][]> => {
    const one = (await fixture.item({ wallet, id })) as { ok: { item: ActivityEntry } }
    const page = (await fixture.activity({ wallet, limit: 10 })) as {
      ok: { items: ActivityEntry[] }
    }
    return [one.ok.item.bank, page.ok.items.find((item) => item.id === id)!.bank]
  }
  const bank = { name: 'Bank Central Asia', lastDigits: '7890' }
  expect(await shown()).toEqual([bank, bank])
  await fixture.until(id, 'paid')
  await fixture.database.run((db) => db.update(cashouts).set({ accountMark: null }).where(eq(cashouts.id, id)))
  expect(await shown()).toEqual([undefined, undefined])
  const emptied = { bankDetails: '', bankDetailsKeyId: 'erased', accountMark: null }
  await fixture.database.run((db) => db.update(cashouts).set(emptied).where(eq(cashouts.id, id)))
  expect(await shown()).toEqual([undefined, undefined])
})

test('a cash-out whose key is gone is listed without its bank account', async () => {
  const id = await fixture.taken()
  const gone = { bankDetailsKeyId: 'gone' }
  await fixture.until(id, 'paid')
  await fixture.database.run((db) => db.update(cashouts).set(gone).where(eq(cashouts.id, id)))
  const { ok } = (await fixture.item({ wallet, id })) as { ok: { item: ActivityEntry } }
  expect([ok.item.id, ok.item.bank]).toEqual([id, undefined])
})
