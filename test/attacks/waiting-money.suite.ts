import { beforeAll, describe, expect, test } from 'bun:test'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import { localTerms } from '#infra/local/chain'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { groupStack } from '../runner/group'
import { borrower, openSettlement } from '../support/flows'
import { newCaller } from '../support/people'
import { entryIn } from '../support/requests'
import { operate } from '../support/stack'
import { servesTruth } from '../support/verify'

// A borrower pays in time, and the money waits with us. A stranger tries to default the borrower.

const { termSeconds, graceSeconds } = localTerms
const hour = 3_600
const day = 24 * hour

let stack: Stack
let outside: ExternalControls
beforeAll(() => {
  stack = groupStack()
  outside = outsideOf(stack.info)
})

const because = ['--reason', 'the sender was checked', '--by', 'sari']
const run = async (...words: string[]) => expect(await operate(stack, ...words, ...because)).toMatchObject({ code: 0 })

type Delay = {
  readonly pay: (paymentId: string) => Promise<unknown>
  readonly waitsIn: string
  readonly end: (paymentId: string) => Promise<unknown>
}

describe('a borrower who paid two hours before the due date is not defaulted five days after the grace period', () => {
  test.each<[string, Delay]>([
    [
      'because the sender is unverified and an operator is slow',
      {
        pay: (paymentId) =>
          outside.control(`sessions/${paymentId}/pay`, { channel_code: 'BRI_VIRTUAL_ACCOUNT', sender: 'UNKNOWN' }),
        waitsIn: 'review',
        end: (paymentId) => run('review', 'resolve', paymentId, 'credit'),
      },
    ],
    [
      'because relaying is paused',
      {
        pay: async (paymentId) => {
          await run('pause', 'relaying')
          await outside.pay(paymentId, 'BCA_VIRTUAL_ACCOUNT')
        },
        waitsIn: 'paid',
        end: () => run('resume', 'relaying'),
      },
    ],
  ])('%s', async (_, { pay, waitsIn, end }) => {
    const person: Person = await borrower(stack, { wei: 10n ** 19n })
    await person.draw(3_000_000n)
    await person.until('the debt', (me) => me.drawn === '3000000')
    await outside.advance(termSeconds - 2 * hour)
    const { paymentId } = await openSettlement(person)
    await pay(paymentId)
    await entryIn(person, paymentId, waitsIn)
    // The provider's clock stays behind, so the contract takes the payment to be a week old.
    await outside.advance(2 * hour + graceSeconds + 5 * day)
    const stranger = await newCaller(stack)
    const marked = stranger.call('markDefault', [person.account.address]).then(
      () => 'defaulted',
      () => 'refused',
    )
    expect(await marked).toBe('refused')
    await end(paymentId)
    await entryIn(person, paymentId, 'repaid')
    await waitUntil('the end of the cycle', async () => {
      const { defaulted, history } = await servesTruth(stack, person.wallet)
      return !defaulted && history.cycles[0]?.outcome === 'Qualified'
    })
  })
})
