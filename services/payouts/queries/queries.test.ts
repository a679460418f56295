import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { StatementEntry } from '#shared/messages/statement'
import { type Fixture, openFixture, wallet } from '../test-support'
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
  expect([ordered!.at < paid!.at, linesOf(id, later)]).toEqual([
    true,
    [['cashout_paid', {}, { payouts }]],
  ])
  expect(later.opening).toMatchObject({ payouts })
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
