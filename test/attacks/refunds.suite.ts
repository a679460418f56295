import { afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { groupStack } from '../runner/group'
import { topUp } from '../support/flows'
import { chainSeconds } from '../support/ledger'
import { verifiedUser } from '../support/people'
import { entryIn } from '../support/requests'
import { becomes } from '../support/wait'
import { endsEven, holdSeconds, openBooks, passing, settleBy, tries, withdrawCollateral } from './fixture'
import { addYield, collateralOf } from './yield'

let stack: Stack
let outside: ExternalControls

beforeAll(() => {
  stack = groupStack()
  outside = outsideOf(stack.info)
})
afterEach(() => outside.control('faults', {}))

const userWithoutAusd = () => verifiedUser(stack, { wei: 10n ** 19n })

/** Amount of a payment in rupiah, which is 32 AUSD. */
const amount = '520000'

async function held(person: Person): Promise<string> {
  const { id } = await topUp(stack, person, { amount, channel: 'CARDS' })
  await person.until('the hold', ({ collateral }) => collateral.pendingShares !== '0')
  return id
}

async function credited(person: Person): Promise<string> {
  const { id } = await topUp(stack, person, { amount })
  await entryIn(person, id, 'credited')
  return id
}

/** Gives a user a debt of 10 AUSD against 32 AUSD of collateral. */
async function indebted(person: Person): Promise<void> {
  await credited(person)
  await person.draw(10_000_000n)
}

const settling = (person: Person): Promise<string> => settleBy(stack, person, 'CARDS')

async function settled(person: Person): Promise<string> {
  await indebted(person)
  return settling(person)
}

const noWebhooks = { webhooks: { drop: 1 } }
const withdraw = (person: Person, micro: bigint) => tries(withdrawCollateral(stack, person, micro))

const position = async (person: Person) => {
  const { collateral, drawn } = await person.me()
  return { value: collateral.value, pending: collateral.pendingShares, drawn }
}
const sharesOf = async (person: Person) => {
  const { shares, pendingShares } = (await person.me()).collateral
  return BigInt(shares) + BigInt(pendingShares)
}
const nothingLeft = { value: '0', pending: '0', drawn: '0' }
const oweAgain = { value: '32000000', pending: '0', drawn: '10000000' }

describe('within the hold', () => {
  test('a top-up and a settlement by card are refunded without a webhook while the provider fails until the hold ends', async () => {
    const people = [await userWithoutAusd(), await userWithoutAusd()] as const
    const books = await openBooks(stack, ...people)
    await indebted(people[1])
    const payments = await Promise.all([held(people[0]), settling(people[1])])
    const untils = async () => {
      const [one, other] = [await people[0].me(), await people[1].me()]
      return [one.pendingUntil, other.encumberedUntil].map((until) => Number(until ?? 0))
    }
    const before = await untils()
    await outside.faults({ ...noWebhooks, api: { errorRate: 1 } })
    for (const payment of payments) await outside.refund(payment)
    await passing(stack, Math.max(...before, (await chainSeconds(stack)) + holdSeconds) + 1)
    const withdrew = await Promise.all(people.map((person) => withdraw(person, 32_000_000n)))
    const extended = (await untils()).map((until, index) => until > before[index]!)
    await outside.faults({ api: {} })
    expect([...withdrew, ...extended]).toEqual(['reverted', 'reverted', true, true])
    await endsEven(books, () => Promise.all(people.map(position)), [nothingLeft, oweAgain])
  })

  test('a top-up and a settlement by card are refunded without a webhook, and only the list of transactions shows it', async () => {
    const people = [await userWithoutAusd(), await userWithoutAusd()] as const
    const books = await openBooks(stack, ...people)
    await indebted(people[1])
    const payments = await Promise.all([held(people[0]), settling(people[1])])
    await outside.faults({ ...noWebhooks, api: { hideRefunds: 1 } })
    for (const payment of payments) await outside.refund(payment)
    await endsEven(books, () => Promise.all(people.map(position)), [nothingLeft, oweAgain])
  })
})

describe('after yield of 10 percent, when a share is worth another amount than at first', () => {
  test('payments are refunded within their holds, in whole and in part, to the unit, and the part that stays keeps its yield', async () => {
    const [whole, part, debtor] = [await userWithoutAusd(), await userWithoutAusd(), await userWithoutAusd()]
    await credited(await userWithoutAusd())
    await addYield(stack, 1n)
    const payments = await Promise.all([held(whole), held(part), settled(debtor)])
    const shares = await sharesOf(part)
    await addYield(stack, (await collateralOf(stack)) / 10n)
    await outside.refund(payments[0]!)
    await outside.control(`payments/${payments[1]}/refund`, { amount: 260_000 })
    await outside.refund(payments[2]!)
    const ending = async () => {
      const [one, two, three] = await Promise.all([whole, part, debtor].map(position))
      return {
        whole: one!.value === '0' && one!.pending === '0',
        part: (await sharesOf(part)) === shares / 2n && two!.pending === '0',
        drawn: three!.drawn,
      }
    }
    await becomes(ending, { whole: true, part: true, drawn: '10000000' })
  })
})
