import { beforeAll, describe, expect, test } from 'bun:test'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { loseJetStream, recorded, settleBy } from '../attacks/fixture'
import { groupStack } from '../runner/group'
import { topUp } from '../support/flows'
import { creditsOf } from '../support/ledger'
import { verifiedUser } from '../support/people'
import { entryIn, openCheckout } from '../support/requests'
import { becomes } from '../support/wait'

let stack: Stack
let outside: ExternalControls
let person: Person

beforeAll(async () => {
  stack = groupStack()
  outside = outsideOf(stack.info)
  person = await verifiedUser(stack)
})

const blows: [string, () => Promise<void> | void][] = [
  ['nats-server is killed', () => stack.process('nats-server').kill('SIGKILL')],
  ['nats-server is stopped in order', () => stack.process('nats-server').kill('SIGTERM')],
  ['Postgres is killed', () => stack.process('postgres').kill('SIGKILL')],
  ['Postgres is stopped at once', () => stack.process('postgres').kill('SIGQUIT')],
  ['JetStream loses its whole store', () => loseJetStream(stack)],
]

describe('a payment before and a payment right after are credited exactly once each if, in between,', () => {
  test.each(blows)('%s', async (_, blow) => {
    const checkouts = [await openCheckout(person), await openCheckout(person)]
    await outside.pay(checkouts[0]!.paymentId, 'QRIS')
    await blow()
    await outside.pay(checkouts[1]!.paymentId, 'QRIS')
    for (const { paymentId } of checkouts) {
      await entryIn(person, paymentId, 'credited')
      expect(await creditsOf(stack, paymentId)).toHaveLength(1)
    }
    await waitUntil('nothing in flight', async () => (await person.get('/me/activity')).body.inFlight?.length === 0)
  })
})

/** Credits a new user with 32 AUSD of collateral. Returns the user and the id of the payment. */
async function credited(): Promise<[Person, string]> {
  const user = await verifiedUser(stack, { wei: 10n ** 19n })
  const { id } = await topUp(stack, user, { amount: '520000' })
  await entryIn(user, id, 'credited')
  return [user, id]
}

// The hold of this stack is longer than all restarts together, also on a slow machine.
test('refunds that the gateway answered with `recorded` outlive the loss of JetStream, of credited money and within a hold', async () => {
  const [[before, topUpId], [within]] = [await credited(), await credited()]
  await within.draw(10_000_000n)
  const settlementId = await settleBy(stack, within, 'CARDS')
  const since = Date.now()
  await stack.process('payments').stop('SIGKILL')
  for (const payment of [topUpId, settlementId]) await outside.refund(payment)
  await recorded(stack, 'refund.succeeded', since, 2)
  await loseJetStream(stack)
  stack.process('payments').start()
  const ending = async () => ({ frozen: (await before.me()).frozen, drawn: (await within.me()).drawn })
  await becomes(ending, { frozen: true, drawn: '10000000' })
})
