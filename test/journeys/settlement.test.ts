import { beforeAll, describe, expect, test } from 'bun:test'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import type { RunningStack } from '#infra/local/stack'
import { okOf } from '#shared/client/client'
import { borrower, topUp } from '../support/flows'
import { verifiedUser } from '../support/people'
import { entryIn } from '../support/requests'
import { sharedStack } from '../support/stack'

let stack: RunningStack
let outside: ExternalControls

beforeAll(async () => {
  stack = await sharedStack()
  outside = outsideOf(stack.info)
})

const has = { ausdMicro: 50_000_000n, wei: 10n ** 18n }

const settle = async ({ api }: Person, pair: 'USD/IDR' | 'USD/MYR' = 'USD/IDR') =>
  api.settle({ quoteId: okOf(await api.quote(pair)).id })

describe('a settlement', () => {
  test.each([
    ['USD/IDR', '162501', 'BCA_VIRTUAL_ACCOUNT'],
    ['USD/MYR', '4211', 'MAYB2U_FPX'],
  ] as const)(
    'in %s charges the whole debt rounded up to %s, and once paid closes the cycle',
    async (pair, fiat, channel) => {
      const person = await borrower(stack, has)
      await person.draw(10_000_001n)
      const checkout = okOf(await settle(person, pair))
      expect(checkout).toMatchObject({ fiat, ausd: '10000001' })
      await outside.pay(checkout.paymentId, channel)
      const item = await person.api.waitFor(checkout.paymentId, { everyMs: 100 })
      expect(item).toMatchObject({ kind: 'settlement', status: 'repaid' })
      const me = okOf(await person.api.me())
      expect(me).toMatchObject({ drawn: '0', cycles: 1, score: '10', defaulted: false })
    },
  )

  test('is refused when nothing is owed', async () => {
    const person = await verifiedUser(stack)
    const refused = { status: 400, code: 'nothing_owed', message: 'nothing is owed' }
    expect(await settle(person)).toMatchObject({ refused })
  })

  test("of a debt below every channel's minimum is refused with the way to repay directly", async () => {
    const person = await borrower(stack, has)
    await person.draw(100n)
    const reply = await settle(person, 'USD/MYR')
    expect(reply).toMatchObject({ refused: { status: 400, code: 'debt_too_small' } })
    expect((await person.me()).drawn).toBe('100')
  })

  test('paid after the user repaid part of the debt puts the excess into collateral', async () => {
    const person = await borrower(stack, has)
    await person.draw(10_000_000n)
    const checkout = okOf(await settle(person))
    const before = BigInt((await person.me()).collateral.value)
    await person.repay(4_000_000n)
    await outside.pay(checkout.paymentId, 'QRIS')
    const me = await person.until('the repayment', (seen) => seen.drawn === '0' && seen)
    expect(BigInt(me.collateral.value) - before).toBe(4_000_000n)
  })

  test('paid after the user drew more repays the amount paid', async () => {
    const person = await borrower(stack, has)
    await person.draw(5_000_000n)
    const checkout = okOf(await settle(person))
    await person.draw(3_000_000n)
    await outside.pay(checkout.paymentId, 'QRIS')
    const me = await person.until('the repayment', (seen) => seen.drawn === '3000000' && seen)
    expect(me.cycles).toBe(0)
  })

  test('paid by card repays at once, and releases the collateral when the hold ends', async () => {
    const person = await borrower(stack, has)
    await person.draw(5_000_000n)
    const free = BigInt((await person.me()).available)
    const checkout = okOf(await settle(person))
    await outside.pay(checkout.paymentId, 'CARDS')
    const me = await person.until('the repayment', (seen) => seen.drawn === '0' && seen)
    expect(me).toMatchObject({ cycles: 1, encumbered: '5000000', available: String(free) })
    expect(me.collateral.pendingShares).toBe('0')
    expect(Number(me.encumberedUntil)).toBeGreaterThan(Date.now() / 1_000)
    await entryIn(person, checkout.paymentId, 'repaid')
    const after = await person.until('the end of the hold', (seen) => seen.encumbered === '0' && seen)
    expect(after.encumberedUntil).toBeNull()
    expect(BigInt(after.available)).toBeGreaterThanOrEqual(free + 5_000_000n)
  })
})

describe('a refund', () => {
  test('during the hold revokes the held amount', async () => {
    const person = await verifiedUser(stack)
    const { id } = await topUp(stack, person, { channel: 'CARDS' })
    await person.until('the hold', (me) => me.collateral.pendingShares !== '0')
    await outside.refund(id)
    const me = await person.until('the revocation', (seen) => seen.collateral.pendingShares === '0' && seen)
    expect(me.collateral.value).toBe('0')
    await entryIn(person, id, 'revoked')
  })

  test('after the credit leaves the credit and puts the payment into review', async () => {
    const person = await verifiedUser(stack)
    const { id, micro } = await topUp(stack, person)
    await person.until('the credit', (me) => me.collateral.value === String(micro))
    await outside.refund(id)
    await entryIn(person, id, 'review')
    expect((await person.me()).collateral.value).toBe(String(micro))
  })
})
