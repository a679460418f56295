import { beforeAll, describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import { natsAnswers } from '#infra/local/nats'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { groupStack } from '../runner/group'
import { booksClose } from '../support/books'
import { creditsOf } from '../support/ledger'
import { verifiedUser } from '../support/people'
import { openCheckout } from '../support/requests'

let stack: Stack
let outside: ExternalControls

beforeAll(() => {
  stack = groupStack()
  outside = outsideOf(stack.info)
})

/** Makes JetStream lose everything, which the books must not. */
async function wipeJetStream() {
  const server = stack.process('nats-server')
  await server.stop('SIGKILL')
  rmSync(join(stack.dir, 'nats'), { recursive: true, force: true })
  server.start()
  await waitUntil('nats-server being ready', () => natsAnswers(stack.info.nats.monitor))
  await stack.provision()
}

const blows: [string, () => Promise<void> | void][] = [
  ['nats-server is killed', () => stack.process('nats-server').kill('SIGKILL')],
  ['nats-server is stopped in order', () => stack.process('nats-server').kill('SIGTERM')],
  ['Postgres is killed', () => stack.process('postgres').kill('SIGKILL')],
  ['Postgres is stopped at once', () => stack.process('postgres').kill('SIGQUIT')],
  ['JetStream loses its whole store', wipeJetStream],
]
const moments = ['before the payment', 'right after the payment'] as const

describe('a top-up is credited exactly once if, before the credit,', () => {
  test.each(blows.flatMap(([what, blow]) => moments.map((moment) => [what, moment, blow] as const)))(
    '%s %s',
    async (_, moment, blow) => {
      const person = await verifiedUser(stack)
      const checkout = await openCheckout(person)
      if (moment === 'before the payment') await blow()
      await outside.pay(checkout.paymentId, 'QRIS')
      if (moment === 'right after the payment') await blow()
      await person.until('the credit', (me) => me.collateral?.value === checkout.ausd, 60_000)
      await waitUntil('nothing in flight', async () => (await person.get('/me/activity')).body.inFlight?.length === 0)
      expect(await creditsOf(stack, checkout.paymentId)).toHaveLength(1)
    },
  )
})

test('after the restarts the books balance', () => booksClose(stack))
