import { afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { groupStack } from '../runner/group'
import { topUp } from '../support/flows'
import { ausdOf, creditsOf } from '../support/ledger'
import { newUser, verifiedUser } from '../support/people'
import { cashoutBody, entryIn, insist } from '../support/requests'

let stack: Stack
let outside: ExternalControls
let person: Person

beforeAll(async () => {
  stack = groupStack()
  outside = outsideOf(stack.info)
  person = await verifiedUser(stack)
})
afterEach(() => outside.calm())

const exactlyOnce = async (paymentId: string, ausd: string | bigint) => {
  await waitUntil('the credit', async () => (await creditsOf(stack, paymentId)).length > 0)
  await waitUntil('nothing in flight', async () => {
    const { inFlight } = (await person.get('/me/activity')).body
    return !inFlight.some((entry: { id: string }) => entry.id === paymentId)
  })
  expect(await creditsOf(stack, paymentId)).toEqual([{ wallet: person.wallet, ausdMicro: BigInt(ausd), held: false }])
}

const hasMicro = 20_000_000n
const takenMicro = 5_000_000n

describe('an unclear response of the provider never causes a second transfer', () => {
  test('although it accepted the payout and never answered', async () => {
    const payer = await newUser(stack, { ausdMicro: hasMicro })
    const body = await cashoutBody(stack, payer, { ausdMicro: takenMicro })
    const { payoutId } = await insist(payer, '/cashouts', body)
    await outside.faults({ api: { timeoutAfterAccept: 1 } })
    await waitUntil('the money being taken', async () => (await ausdOf(stack, payer.wallet)) === hasMicro - takenMicro)
    await waitUntil('some calls failing', async () => (await outside.book()).sessions !== undefined)
    await outside.calm()
    await entryIn(payer, payoutId, 'paid')
    const transfers = (await outside.book()).payouts!.filter((payout) => payout.reference_id === payoutId)
    expect(transfers).toHaveLength(1)
    expect(await ausdOf(stack, payer.wallet)).toBe(hasMicro - takenMicro)
  })
})

describe('a payment is credited exactly once', () => {
  test.each([
    ['every webhook comes five times, in any order', { times: 5, reorder: true, duplicate: 0, drop: 0, delayMs: 50 }],
    ['only the session webhook comes', { only: ['payment_session.completed'] }],
    ['only the capture webhook comes', { only: ['payment.capture'] }],
  ])('when %s', async (_, webhooks) => {
    await outside.faults({ webhooks })
    const { id, micro } = await topUp(stack, person)
    await exactlyOnce(id, micro)
  })
})

test('the provider accepts a checkout and never answers: the app gets 503, repeats the same request, and one payment is credited once', async () => {
  const quote = await person.quote('USD/IDR')
  const body = { amount: '50000', method: 'qr', quoteId: quote.id }
  await outside.faults({ api: { timeoutAfterAccept: 1 } })
  expect((await person.post('/topups', body)).status).toBe(503)
  await outside.calm()
  const { paymentId, ausd } = await insist(person, '/topups', body)
  await outside.pay(paymentId, 'QRIS')
  await exactlyOnce(paymentId, ausd)
})
