import { beforeAll, describe, expect, test } from 'bun:test'
import type { Address } from 'viem'
import { type Outside, outsideOf } from '#infra/demo/outside'
import type { Person } from '#infra/demo/person'
import { localTerms } from '#infra/local/chain'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { okOf } from '#shared/client/client'
import { groupStack } from '../runner/group'
import { callerOf, verifiedUser } from '../support/people'
import { cashoutBody, openCheckout } from '../support/requests'
import { servesTruth } from '../support/verify'

// Moves the chain's clock, which every other user of the stack would notice.

const { termSeconds, graceSeconds } = localTerms
const day = 86_400

let stack: Stack
let outside: Outside
beforeAll(() => {
  stack = groupStack()
  outside = outsideOf(stack.info)
})

/** Returns a verified user with collateral. */
async function borrower(): Promise<Person> {
  const person = await verifiedUser(stack, { ausdMicro: 50_000_000n, wei: 10n ** 19n })
  const checkout = await openCheckout(person, { pair: 'USD/IDR', amount: '500000', method: 'qr' })
  await outside.pay(checkout.paymentId, 'QRIS')
  await person.until('collateral', (me) => me.collateral.value === checkout.ausd)
  return person
}

const outcomeOf = (person: Person, number: number) =>
  waitUntil(`the outcome of cycle ${number}`, async () => {
    const { history } = await servesTruth(stack, person.wallet)
    return history.cycles[number - 1]?.outcome
  })

describe('the clock of the sandbox', () => {
  test('reaches Late and Defaulted in seconds', async () => {
    const person = await borrower()
    await person.draw(3_000_000n)
    await outside.advance(termSeconds + 1)
    const overdue = await person.until('an overdue debt', ({ cycle }) => {
      return cycle?.sentence.startsWith('Your repayment was due on') && cycle
    })
    expect(overdue.sentence).toContain('or your debt may be marked as defaulted')
    await person.repay(3_000_000n)
    expect(await outcomeOf(person, 1)).toBe('Late')

    await person.draw(2_000_000n)
    await outside.advance(termSeconds + graceSeconds + 1)
    await callerOf(stack, 'wallet 9').call('markDefault', [person.account.address])
    expect(await outcomeOf(person, 2)).toBe('Defaulted')
  })

  test('reaches the end of a hold of days', async () => {
    const person = await borrower()
    const before = await person.me()
    const checkout = await openCheckout(person, {
      ...{ pair: 'USD/IDR', amount: '200000', method: 'card' },
    })
    await outside.pay(checkout.paymentId, 'CARDS')
    const held = await person.until('a held top-up', (me) => {
      return me.collateral.pendingShares !== '0' && me
    })
    const leftSeconds = Number(held.pendingUntil) - (await callerOf(stack, 'wallet 9').nowSeconds())
    expect(leftSeconds).toBeGreaterThan(day)
    const item = async () => {
      const { items } = okOf(await person.api.activity())
      return items.find(({ id }) => id === checkout.paymentId)
    }
    await waitUntil('its hold', async () => (await item())?.status === 'held')

    await outside.advance(leftSeconds + 1)
    await person.until('a higher limit', (me) => BigInt(me.limit) > BigInt(before.limit))
    await waitUntil('the end of its hold', async () => (await item())?.status === 'credited')
  })

  test('leaves sessions and quotes as they are, and the chain still takes and returns AUSD', async () => {
    const person = await verifiedUser(stack, { ausdMicro: 50_000_000n, wei: 10n ** 19n })
    const authorization = await person.authorization()
    const quote = await person.quote('USD/IDR')
    await outside.advance(8 * day)

    const me = await person.call('GET', '/me', undefined, { authorization })
    expect(me.status).toBe(200)
    const topup = { amount: '50000', method: 'qr', quoteId: quote.id }
    expect((await person.post('/topups', topup)).status).toBe(200)

    const to: Address = `0x${'77'.repeat(20)}`
    const sent = await person.post('/sends', {
      authorization: await person.sign({ to, valueMicro: 1_000_000n }),
    })
    expect(sent.status).toBe(200)
    const paid = okOf(await person.api.cashOut(await cashoutBody(stack, person)))
    expect((await person.api.waitFor(paid.payoutId)).status).toBe('paid')
    const refused = okOf(
      await person.api.cashOut(await cashoutBody(stack, person, { accountNumber: '999999' })),
    )
    expect((await person.api.waitFor(refused.payoutId)).status).toBe('returned')
  })
})
