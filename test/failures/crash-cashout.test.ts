import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { type Outside, outsideOf } from '#infra/demo/outside'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import type { ServiceName } from '#shared/messages/topic'
import { booksClose } from '../invariants/closing'
import { ausdOf, transfersOf } from '../support/ledger'
import { newUser } from '../support/people'
import { cashoutBody, entryIn } from '../support/requests'
import { ownStack } from '../support/stack'
import { boundariesOf } from './failpoints'

let stack: Stack
let outside: Outside
const hasMicro = 20_000_000n
const takenMicro = 5_000_000n

beforeAll(async () => {
  stack = await ownStack()
  outside = outsideOf(stack.info)
}, 90_000)
afterAll(() => stack?.[Symbol.asyncDispose]())

/** One cash-out to its end; the app repeats its request until it is answered. */
async function cashOut(
  person: Person,
  accountNumber: string,
  end: 'paid' | 'returned',
): Promise<void> {
  const body = await cashoutBody(stack, person, { accountNumber, ausdMicro: takenMicro })
  const reply = await waitUntil('the cash-out being accepted', async () => {
    const seen = await person.post('/cashouts', body)
    return seen.status === 200 && seen
  })
  await entryIn(person, reply.body.payoutId, end)
  const transfers = (await outside.book()).payouts!.filter(
    (payout) => payout.reference_id === reply.body.payoutId,
  )
  expect(transfers).toHaveLength(1)
  const moves = await transfersOf(stack, person.wallet)
  expect(moves.filter((move) => move.from === person.wallet)).toHaveLength(1)
  expect(
    moves.filter((move) => move.from === stack.info.chain.treasury.toLowerCase()),
  ).toHaveLength(end === 'paid' ? 0 : 1)
  expect(await ausdOf(stack, person.wallet)).toBe(end === 'paid' ? hasMicro - takenMicro : hasMicro)
}

const services: ServiceName[] = ['payouts', 'chain-relayer']
const endings = [
  ['paid', '1234567890'],
  ['returned', '999999'],
] as const
const boundaries = services.flatMap((service) =>
  boundariesOf(service).flatMap((name) =>
    endings.map(([end, account]) => [service, name, end, account] as const),
  ),
)
/** Boundaries that only one of the two endings passes. */
const onlyReturned = /return/

describe('kill -9 on the way of a cash-out: at most one take, one transfer, one return', () => {
  test.each(boundaries.filter(([, name, end]) => end === 'returned' || !onlyReturned.test(name)))(
    '%s dies at %s, the cash-out ends %s',
    async (service, name, end, accountNumber) => {
      const person = await newUser(stack, { ausdMicro: hasMicro })
      await person.get('/me')
      const file = stack.failpointFile(service)
      writeFileSync(file, name)
      await cashOut(person, accountNumber, end)
      expect(existsSync(file)).toBe(false)
    },
  )
})

describe('an unclear answer of the provider never causes a second transfer', () => {
  test.each([
    ['a time-out after it accepted', { timeoutAfterAccept: 1 }],
    ['500 to everything', { errorRate: 1 }],
    ['half of the calls failing', { errorRate: 0.5, timeoutAfterAccept: 0.3 }],
  ])('%s', async (_, api) => {
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

test('in the end the books say where every unit is', () => booksClose(stack), 60_000)
