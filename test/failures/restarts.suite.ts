import { beforeAll, describe, expect, test } from 'bun:test'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { loseJetStream } from '../attacks/fixture'
import { groupStack } from '../runner/group'
import { creditsOf } from '../support/ledger'
import { verifiedUser } from '../support/people'
import { entryIn, openCheckout } from '../support/requests'

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
