import { beforeAll, describe, expect, test } from 'bun:test'
import type { Address } from 'viem'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import { localTerms } from '#infra/local/chain'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { recordingSeconds } from '#shared/chain/recording-seconds'
import { okOf } from '#shared/client/client'
import { groupStack } from '../runner/group'
import { borrower } from '../support/flows'
import { chainSeconds, nextNightInMalaysia } from '../support/ledger'
import { startNotifier } from '../support/notifier'
import { newCaller, verifiedUser } from '../support/people'
import { cashoutBody, openCheckout } from '../support/requests'
import { servesTruth } from '../support/verify'

// This suite moves the chain's clock for the whole stack.

const { termSeconds, graceSeconds } = localTerms
const day = 86_400
const hour = 3_600

let stack: Stack
let outside: ExternalControls
beforeAll(() => {
  stack = groupStack()
  outside = outsideOf(stack.info)
})

const has = { ausdMicro: 50_000_000n, wei: 10n ** 19n }

const outcomeOf = (person: Person, number: number) =>
  waitUntil(`the outcome of cycle ${number}`, async () => {
    const { history } = await servesTruth(stack, person.wallet)
    return history.cycles[number - 1]?.outcome
  })

describe('the reminders of a debt', () => {
  test('reach the push service once each by the clock, by day, with a restart in between', async () => {
    await using notifier = startNotifier(stack)
    const [person, awake] = [await borrower(stack, has), await borrower(stack, has)]
    for (const [user, country] of [[person, 'MY'] as const, [awake, 'BR'] as const])
      expect((await user.post('/me/country', { country })).status).toBe(200)
    // The time is 03:00 in Malaysia and afternoon in Brazil, and so is each reminder's time.
    const now = await chainSeconds(stack)
    await outside.advance(nextNightInMalaysia(now) - now)
    await person.draw(3_000_000n)
    await awake.draw(3_000_000n)
    const { dueAt, defaultsAt } = await person.until('the cycle', ({ cycle }) => cycle)
    const moments = {
      three_days_before: Number(dueAt) - 3 * day,
      one_day_before: Number(dueAt) - day,
      due: Number(dueAt),
      grace_ends: Number(defaultsAt),
    }
    const expected: string[] = []
    const arrived = (user: Person, kind: string) =>
      waitUntil(`the reminder ${kind}`, () => notifier.idsOf(user.wallet).includes(`${user.wallet}:1:${kind}`))
    for (const [kind, at] of Object.entries(moments)) {
      await outside.advance(at - (await chainSeconds(stack)) + 60)
      await arrived(awake, kind)
      expect(notifier.idsOf(person.wallet)).toEqual(expected)
      if (kind === 'due') {
        await stack.process('gateway').stop('SIGKILL')
        stack.process('gateway').start()
      }
      await outside.advance(6 * hour)
      await arrived(person, kind)
      expected.push(`${person.wallet}:1:${kind}`)
    }
    expect(notifier.idsOf(person.wallet)).toEqual(expected)
  })
})

describe('the clock of the sandbox', () => {
  test('reaches Late and Defaulted in seconds', async () => {
    const person = await borrower(stack, has)
    await person.draw(3_000_000n)
    await outside.advance(termSeconds + 1)
    const overdue = await person.until('an overdue debt', ({ cycle }) => {
      return cycle?.sentence.startsWith('Your repayment was due on') && cycle
    })
    expect(overdue.sentence).toContain('or your debt may be marked as defaulted')
    await person.repay(3_000_000n)
    expect(await outcomeOf(person, 1)).toBe('Late')

    await person.draw(2_000_000n)
    await outside.advance(termSeconds + graceSeconds + recordingSeconds + 1)
    const stranger = await newCaller(stack)
    await stranger.call('markDefault', [person.account.address])
    expect(await outcomeOf(person, 2)).toBe('Defaulted')
  })

  test('reaches the end of a hold of days', async () => {
    const person = await borrower(stack, has)
    const before = await person.me()
    const checkout = await openCheckout(person, {
      pair: 'USD/IDR',
      amount: '200000',
      method: 'card',
    })
    await outside.pay(checkout.paymentId, 'CARDS')
    const held = await person.until('a held top-up', (me) => {
      return me.collateral.pendingShares !== '0' && me
    })
    const leftSeconds = Number(held.pendingUntil) - (await chainSeconds(stack))
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
    const refused = okOf(await person.api.cashOut(await cashoutBody(stack, person, { accountNumber: '999999' })))
    expect((await person.api.waitFor(refused.payoutId)).status).toBe('returned')
  })
})
