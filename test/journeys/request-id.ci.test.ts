import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { outsideOf } from '#infra/demo/external'
import type { RunningStack } from '#infra/local/stack'
import { query } from '../support/database'
import { verifiedUser } from '../support/people'
import { answered, entryIn } from '../support/requests'
import { sharedStack } from '../support/stack'
import { becomes } from '../support/wait'

const linesOf = ({ dir }: RunningStack, service: string, requestId: string): string[] =>
  readFileSync(join(dir, `logs/${service}.log`), 'utf8')
    .split('\n')
    .filter((line) => line.includes(`"requestId":"${requestId}"`))
    .map((line) => (JSON.parse(line) as { msg: string }).msg)

test('every service logs and publishes a top-up under its request id, also after the webhook', async () => {
  const stack = await sharedStack()
  const person = await verifiedUser(stack)
  const reply = await answered(async () => {
    const { id: quoteId } = await person.quote('USD/IDR')
    return person.post('/topups', { quoteId, amount: '50000', method: 'qr' })
  })
  const requestId = reply.headers.get('x-request-id')!
  expect([reply.status, requestId]).toEqual([200, expect.stringMatching(/^[\w-]{8,}$/)])
  await outsideOf(stack.info).pay(reply.body.paymentId, 'QRIS')
  await entryIn(person, reply.body.paymentId, 'credited')

  const said = {
    gateway: ['request answered'],
    pricing: ['quote taken'],
    payments: ['checkout opened', 'payment state changed', 'payment state changed'],
    'chain-relayer': ['operation settled'],
  }
  const logged = async () =>
    Object.fromEntries(Object.keys(said).map((service) => [service, linesOf(stack, service, requestId)]))
  await becomes(logged, said)

  const sent = await query<{ subject: string }>(
    stack,
    `select subject from payments.outbox where request_id = '${requestId}'
      union all select subject from chain_relayer.outbox where request_id = '${requestId}'`,
  )
  expect(sent.map(({ subject }) => subject).sort()).toEqual([
    'payments.paid',
    'payments.settled',
    'relay.credit',
    'relay.credit.settled',
  ])
})
