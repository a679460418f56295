import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { groupStack } from '../runner/group'
import { cashOut, topUp } from '../support/flows'
import { ausdOf } from '../support/ledger'
import { verifiedUsers } from '../support/people'
import { entryIn, reversedAccount, statusOf } from '../support/requests'
import { becomes } from '../support/wait'
import { settleBy } from './fixture'

let stack: Stack
let outside: ExternalControls

beforeAll(() => {
  stack = groupStack()
  outside = outsideOf(stack.info)
})

const hasMicro = 20_000_000n
const takenMicro = 5_000_000n
const ausdIn = async (person: Person) => String(await ausdOf(stack, person.account.address))

/** Amount of a payment in rupiah, which is 32 AUSD. */
const amount = '520000'

const position = async (person: Person) => {
  const { collateral, drawn, frozen } = await person.me()
  const { value, pendingShares: pending } = collateral
  return { value, pending, drawn, frozen: frozen === true }
}
type Position = Awaited<ReturnType<typeof position>>
type Begin = (person: Person) => Promise<() => Promise<unknown>>
const good = { value: '32000000', pending: '0', drawn: '0', frozen: false }

const draw = async (person: Person) => {
  await topUp(stack, person, { amount })
  await person.until('collateral', (me) => me.collateral.value === '32000000')
  await person.draw(10_000_000n)
  await person.until('the debt', (me) => me.drawn === '10000000')
}

const settled =
  (channel: string, reverse?: 'refund' | 'chargeback'): Begin =>
  async (person) => {
    await draw(person)
    const paymentId = await settleBy(stack, person, channel)
    if (reverse) await outside.control(`payments/${paymentId}/${reverse}`)
    return () => position(person)
  }

const topUpBy =
  (channel: string, reverse?: 'refund' | 'chargeback', when?: string): Begin =>
  async (person) => {
    const { id } = await topUp(stack, person, { amount, channel })
    const there = ({ collateral }: { collateral: { value: string; pendingShares: string } }) =>
      when === 'after' ? collateral.value !== '0' : collateral.pendingShares !== '0'
    if (reverse) await person.until('the top-up', there)
    if (when === 'after') await entryIn(person, id, 'credited')
    if (reverse) await outside.control(`payments/${id}/${reverse}`)
    return () => position(person)
  }

/** Makes a cash-out, whose result at the bank `accountNumber` decides. */
const cashedOut =
  (accountNumber: string): Begin =>
  async (person) => {
    const { id } = await cashOut(stack, person, { accountNumber, ausdMicro: takenMicro })
    return async () => ({ status: await statusOf(person, id), ausd: await ausdIn(person) })
  }

const gone: Position = { ...good, value: '0' }
const indebted: Position = { ...good, drawn: '10000000' }
const flows: [string, Begin, unknown][] = [
  ['a top-up is collateral', topUpBy('QRIS'), good],
  ['a card top-up is collateral when its hold ends', topUpBy('CARDS'), good],
  ['a settlement repays', settled('BCA_VIRTUAL_ACCOUNT'), good],
  ['a top-up refunded in its hold is taken back', topUpBy('CARDS', 'refund'), gone],
  ['a top-up charged back in its hold is taken back', topUpBy('CARDS', 'chargeback'), gone],
  ['a settlement refunded in its hold is owed again', settled('CARDS', 'refund'), indebted],
  ['a settlement charged back in its hold is too', settled('CARDS', 'chargeback'), indebted],
  ['a top-up refunded after its hold freezes', topUpBy('CARDS', 'refund', 'after'), { ...good, frozen: true }],
  ['a top-up charged back after its hold freezes', topUpBy('CARDS', 'chargeback', 'after'), { ...good, frozen: true }],
  ['a cash-out is paid', cashedOut('1234567890'), { status: 'paid', ausd: '15000000' }],
  [
    'a cash-out that the bank sends back after it was paid is returned',
    cashedOut(reversedAccount),
    { status: 'returned', ausd: '20000000' },
  ],
]

describe('a month without a single webhook', () => {
  /** Users by test title, all of whom live through the month in parallel. */
  const begun = new Map<string, Promise<() => Promise<unknown>>>()
  let silentSince = 0

  beforeAll(async () => {
    const has = { ausdMicro: hasMicro, wei: 10n ** 19n }
    const people = await verifiedUsers(stack, flows.length, has)
    await outside.faults({ webhooks: { drop: 1 } })
    silentSince = Date.now()
    for (const [index, [title, flow]] of flows.entries()) {
      const beginning = flow(people[index]!)
      beginning.catch(() => {}) // The test that awaits this promise fails.
      begun.set(title, beginning)
    }
  })
  afterAll(() => outside.control('faults', {}))

  test.each(flows)('%s', async (title, _, ending) => {
    const now = await begun.get(title)!
    await becomes(now, ending)
  })

  test('no webhook arrived at all', async () => {
    const { webhooks } = await outside.book()
    const ofMoney = webhooks!.filter(
      ({ source, created }) => source === 'payments' && Date.parse(created) >= silentSince,
    )
    expect(ofMoney.filter(({ state }) => state !== 'dropped')).toEqual([])
    expect(ofMoney.length).toBeGreaterThan(0)
  })
})
