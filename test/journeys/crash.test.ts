import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { booksClose } from '../support/books'
import { ausdOf, creditsOf } from '../support/ledger'
import { verifiedUser } from '../support/people'
import { cashoutBody, entryIn, insist, openCheckout } from '../support/requests'
import { ownStack } from '../support/stack'
import { servesTruth } from '../support/verify'
import { waitUntil } from '../support/wait'

const hasMicro = 20_000_000n
const takenMicro = 5_000_000n

let stack: Stack
let outside: ExternalControls
let user: Person
beforeAll(async () => {
  stack = await ownStack()
  outside = outsideOf(stack.info)
  user = await verifiedUser(stack, { ausdMicro: hasMicro })
})
afterAll(() => stack?.[Symbol.asyncDispose]())

const killAll = () => {
  for (const name of ['payments', 'payouts', 'chain-relayer'] as const) stack.process(name).kill('SIGKILL')
}

test('a top-up is credited once though payments, payouts and chain-relayer are killed as it is paid', async () => {
  const checkout = await openCheckout(user)
  await outside.pay(checkout.paymentId, 'QRIS')
  killAll()
  await entryIn(user, checkout.paymentId, 'credited')
  expect(await creditsOf(stack, checkout.paymentId)).toEqual([
    { wallet: user.wallet, ausdMicro: BigInt(checkout.ausd), held: false },
  ])
})

test('a cash-out pays the bank once though the same services are killed after it was accepted', async () => {
  const body = await cashoutBody(stack, user, { ausdMicro: takenMicro })
  const { payoutId } = await insist(user, '/cashouts', body)
  killAll()
  await entryIn(user, payoutId, 'paid')
  const { payouts } = await outside.book()
  expect(payouts!.filter((payout) => payout.reference_id === payoutId)).toHaveLength(1)
  expect(await ausdOf(stack, user.wallet)).toBe(hasMicro - takenMicro)
})

test('a replayed webhook is answered as a duplicate and credits nothing again', async () => {
  const { webhooks } = await outside.book()
  const capture = webhooks!.findLast((sent) => sent.event === 'payment.capture')
  await outside.control(`webhooks/${capture.id}/resend`)
  const attempt = await waitUntil('the response to the replay', async () => {
    const sent = (await outside.book()).webhooks!.find((delivery) => delivery.id === capture.id)
    return sent.attempts.length > capture.attempts.length && sent.attempts.at(-1)
  })
  expect({ status: attempt.status, body: JSON.parse(attempt.body) }).toEqual({
    status: 200,
    body: { status: 'duplicate' },
  })
})

test('the public record matches the chain', () => servesTruth(stack, user.wallet))

test('after the crashes the books balance', () => booksClose(stack))
