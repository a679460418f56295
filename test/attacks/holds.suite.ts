import { beforeAll, describe, expect, test } from 'bun:test'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import { localTerms } from '#infra/local/chain'
import type { Stack } from '#infra/local/stack'
import { groupStack } from '../runner/group'
import { borrower, openSettlement, topUp } from '../support/flows'
import { chainSeconds } from '../support/ledger'
import { verifiedUser } from '../support/people'
import { verify } from '../support/verify'
import { becomes } from '../support/wait'
import { endsEven, liquidityOf, openBooks, passing, settleBy, tries, withdrawCollateral } from './fixture'

const { minCycleSeconds } = localTerms

let stack: Stack
let outside: ExternalControls

beforeAll(() => {
  stack = groupStack()
  outside = outsideOf(stack.info)
})

const rupiah = '520000'
const collateralMicro = 32_000_000n
const limitMicro = 16_000_000n

const newBorrower = () => borrower(stack, { wei: 10n ** 19n }, rupiah)

const withdraw = (person: Person, micro: bigint) => tries(withdrawCollateral(stack, person, micro))
const draw = (person: Person, micro: bigint) => tries(person.draw(micro))

const accountOf = async (person: Person) => {
  const { drawn, score, ratioBps } = await person.me()
  return { drawn, score, ratioBps }
}
const asBefore = { score: '0', ratioBps: '5000' }

describe('nothing is gained by a user who owes 10 AUSD and', () => {
  const owedMicro = 10_000_000n

  async function debtor() {
    const person = await newBorrower()
    const books = await openBooks(stack, person)
    await person.draw(owedMicro)
    const ends = (drawn: string) => endsEven(books, () => accountOf(person), { drawn, ...asBefore })
    return { person, ends }
  }

  test('settles by card, draws again, and has the payment refunded', async () => {
    const { person, ends } = await debtor()
    const paymentId = await settleBy(stack, person, 'CARDS')
    const again = await draw(person, limitMicro)
    await outside.refund(paymentId)
    expect(again).toBe('reverted')
    await ends('10000000')
  })

  test('settles by card, withdraws the collateral, and has the payment refunded', async () => {
    const { person, ends } = await debtor()
    const paymentId = await settleBy(stack, person, 'CARDS')
    const whole = await withdraw(person, collateralMicro)
    // A debt of 10 locks 20 AUSD; the rest is free, whatever happens to the card payment.
    const free = await withdraw(person, collateralMicro - 2n * owedMicro)
    await outside.refund(paymentId)
    expect([whole, free]).toEqual(['reverted', 'done'])
    await ends('10000000')
  })

  test('overpays by card, withdraws the excess, and has the payment refunded', async () => {
    const { person, ends } = await debtor()
    const { paymentId } = await openSettlement(person)
    await person.repay(6_000_000n)
    await outside.pay(paymentId, 'CARDS')
    await person.until('the repayment', (me) => me.drawn === '0')
    const withExcess = await withdraw(person, collateralMicro + 6_000_000n)
    await outside.refund(paymentId)
    expect(withExcess).toBe('reverted')
    await ends('4000000')
  })

  test('has part of a card settlement refunded, to keep the whole debt paid', async () => {
    const { person, ends } = await debtor()
    const paymentId = await settleBy(stack, person, 'CARDS')
    await outside.control(`payments/${paymentId}/refund`, { amount: 65_000 })
    // The refund was 40 %, so 10 - (10 - 4) AUSD are owed again.
    await ends('4000000')
  })
})

describe('a user who wants a better score or ratio than was paid for', () => {
  test('gains none by paying 99 % by card and the rest separately, and having the card payment refunded', async () => {
    const person = await newBorrower()
    const books = await openBooks(stack, person)
    await person.draw(9_900_000n)
    const { paymentId } = await openSettlement(person)
    await person.draw(100_000n)
    await outside.pay(paymentId, 'CARDS')
    await person.until('the repayment', (me) => me.drawn === '100000')
    await passing(stack, (await chainSeconds(stack)) + minCycleSeconds)
    await person.repay(100_000n)
    await outside.refund(paymentId)
    const ending = async () => {
      const { history } = (await verify(stack, person.wallet)).body
      const [laundered, open] = history.cycles
      return {
        ...(await accountOf(person)),
        outcomes: history.cycles.map((cycle: { outcome: string | null }) => cycle.outcome),
        recordedScore: history.score,
        gainedTime: open?.openedAt !== laundered?.openedAt,
      }
    }
    await endsEven(books, ending, {
      ...asBefore,
      drawn: '9900000',
      outcomes: ['Reversed', null],
      recordedScore: '0',
      gainedTime: false,
    })
  })

  test('cannot draw on the reward of a card settlement before it is refunded', async () => {
    const person = await newBorrower()
    const books = await openBooks(stack, person)
    await person.draw(2_000_000n)
    await passing(stack, (await chainSeconds(stack)) + minCycleSeconds)
    const paymentId = await settleBy(stack, person, 'CARDS')
    // The draw exceeds the limit by 250 basis points of 32 AUSD, next to the encumbered debt.
    const rewarded = await draw(person, limitMicro + 800_000n - 2_000_000n)
    await outside.refund(paymentId)
    expect(rewarded).toBe('reverted')
    await endsEven(books, () => accountOf(person), { drawn: '2000000', ...asBefore })
  })

  // The tests that need no books run concurrently, so that they wait for one hold together.
  test.concurrent('gets the score at once, but ratio and withdrawals only when the hold ends', async () => {
    const person = await newBorrower()
    await person.draw(2_000_000n)
    await passing(stack, (await chainSeconds(stack)) + minCycleSeconds)
    await settleBy(stack, person, 'CARDS')
    const fields = async () => {
      const { score, ratioBps, drawn, encumbered, encumberedUntil, limit, available, frozen } = await person.me()
      return { score, ratioBps, drawn, encumbered, encumberedUntil, limit, available, frozen }
    }
    const paid = { score: '10', drawn: '0', frozen: false }
    await becomes(fields, {
      ...paid,
      ratioBps: '5000',
      encumbered: '2000000',
      encumberedUntil: expect.stringMatching(/^[0-9]{10}$/),
      limit: '16000000',
      available: '14000000',
    })
    const after = { ratioBps: '5250', limit: '16800000', available: '16800000' }
    const free = { ...paid, ...after, encumbered: '0', encumberedUntil: null }
    await becomes(fields, free)
  })

  test.concurrent.each([
    ['a millionth of an AUSD, again and again, to farm score', 1n, '0'],
    ['one AUSD for as long, which counts', 1_000_000n, '20'],
  ])('borrows %s', async (_, micro, score) => {
    const person = await newBorrower()
    for (let round = 0; round < 2; round++) {
      await person.draw(micro)
      await passing(stack, (await chainSeconds(stack)) + minCycleSeconds)
      await person.repay(micro)
    }
    const ending = async () => {
      const record = (await verify(stack, person.wallet)).body
      return { score: record.score, repayments: record.history?.repayCount }
    }
    await becomes(ending, { score, repayments: 2 })
  })
})

describe('a user without funds', () => {
  test('gains nothing by topping up by direct debit, drawing and withdrawing at once, and having it refunded', async () => {
    const person = await verifiedUser(stack, { wei: 10n ** 19n })
    const books = await openBooks(stack, person)
    const { id } = await topUp(stack, person, { amount: rupiah, channel: 'BRI_DIRECT_DEBIT' })
    await person.until('the top-up', ({ collateral }) =>
      [collateral.value, collateral.pendingShares].some((micro) => micro !== '0'),
    )
    const drew = await draw(person, 1_000_000n)
    const withdrew = await withdraw(person, 30_000_000n)
    await outside.refund(id)
    expect([drew, withdrew]).toEqual(['reverted', 'reverted'])
    await person.until('the revocation', ({ collateral }) => collateral.pendingShares === '0')
    await endsEven(books, () => accountOf(person), { drawn: '0', ...asBefore })
  })
})

// These tests come last because they empty the lending pool.
describe('two users who collude', () => {
  test('gain nothing by settling by card, borrowing that money through the other wallet, and having the payment refunded', async () => {
    const accomplice = await verifiedUser(stack, { wei: 10n ** 19n })
    await topUp(stack, accomplice, { amount: '16250000', channel: 'MANDIRI_VIRTUAL_ACCOUNT' })
    await accomplice.until('collateral', (me) => me.collateral.value !== '0')
    const person = await newBorrower()
    const books = await openBooks(stack, person, accomplice)
    await person.draw(10_000_000n)
    const poolMicro = await liquidityOf(stack)
    await accomplice.draw(poolMicro)
    const paymentId = await settleBy(stack, person, 'CARDS')
    const { available } = await accomplice.me()
    const lent = await draw(accomplice, 10_000_000n)
    await outside.refund(paymentId)
    expect([available, lent]).toEqual(['0', 'reverted'])
    await endsEven(books, () => accountOf(person), { drawn: '10000000', ...asBefore })
    await accomplice.repay(poolMicro)
  })
})
