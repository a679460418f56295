import { describe, expect, test } from 'bun:test'
import { waitUntil } from '#infra/local/wait'
import { diesEverywhere, endsWithClosedBooks } from '../crashes/suite'
import { ausdOf } from '../support/ledger'
import { newUser } from '../support/people'
import { cashoutBody, entryIn } from '../support/requests'

const hasMicro = 20_000_000n
const takenMicro = 5_000_000n

const worldOf = diesEverywhere('cashout')

describe('an unclear answer of the provider never causes a second transfer', () => {
  test.each([
    ['a time-out after it accepted', { timeoutAfterAccept: 1 }],
    ['500 to everything', { errorRate: 1 }],
    ['half of the calls failing', { errorRate: 0.5, timeoutAfterAccept: 0.3 }],
  ])('%s', async (_, api) => {
    const { stack, outside } = worldOf()
    const person = await newUser(stack, { ausdMicro: hasMicro })
    const body = await cashoutBody(stack, person, { ausdMicro: takenMicro })
    const reply = await waitUntil('the cash-out being accepted', async () => {
      const seen = await person.post('/cashouts', body)
      return seen.status === 200 && seen
    })
    await outside.faults({ api })
    await waitUntil(
      'the money being taken',
      async () => (await ausdOf(stack, person.wallet)) === hasMicro - takenMicro,
    )
    await waitUntil('some calls failing', async () => (await outside.book()).sessions !== undefined)
    await outside.calm()
    await entryIn(person, reply.body.payoutId, 'paid')
    const transfers = (await outside.book()).payouts!.filter(
      (payout) => payout.reference_id === reply.body.payoutId,
    )
    expect(transfers).toHaveLength(1)
    expect(await ausdOf(stack, person.wallet)).toBe(hasMicro - takenMicro)
  })
})

endsWithClosedBooks(worldOf)
