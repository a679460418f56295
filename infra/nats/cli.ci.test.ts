import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { outsideOf } from '#infra/demo/external'
import { natsCommands } from '#infra/documents/nats-commands'
import { natsContext } from '#infra/local/banner'
import type { RunningStack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { streams } from '#infra/nats/topology'
import { serviceNames } from '#shared/messages/topic'
import { natsCli, noNatsCli, openNatsShell, refused } from '#test/support/engines/nats-cli'
import { verifiedUser } from '#test/support/people'
import { sharedStack } from '#test/support/stack'

/** Text that the documents promise of a command. */
const shows: Readonly<Record<string, readonly string[]>> = {
  'micro ls': serviceNames,
  'micro ping': serviceNames,
  'micro stats payments': ['payments-topup-create'],
  'micro stats payments --json': ['"outboxOldestMs"', '"oldestInFlightMs"', '"deadLetters"'],
  'micro stats pricing --json': ['"warnings"'],
  'stream report': streams.map(({ name }) => name),
  'consumer report EVENTS': ['payments', 'payouts', 'gateway', 'Unprocessed'],
  'kv get rates accepted.usd-idr --raw': ['"localE8PerUsd"', '"source":"fixed"', '"asOf'],
  'server report jetstream --user sys --password …': ['JetStream Summary'],
}

describe.skipIf(!natsCli)(natsCli ? 'the NATS CLI' : `the NATS CLI (${noNatsCli})`, () => {
  const shell = openNatsShell()
  let stack: RunningStack
  beforeAll(async () => {
    stack = await sharedStack()
    const { code, text } = await shell.run(natsContext(stack.info))
    expect([code === 0 || text]).toEqual([true])
    const person = await verifiedUser(stack)
    const quote = await person.quote('USD/IDR')
    const topup = await person.post('/topups', { amount: '50000', method: 'qr', quoteId: quote.id })
    await outsideOf(stack.info).pay(topup.body.paymentId, 'QRIS')
    const event = () => shell.run('nats stream get EVENTS -S payments.settled')
    await waitUntil('the event of the top-up', async () => (await event()).code === 0)
  })
  afterAll(() => shell[Symbol.dispose]())

  const filled = (words: string): string =>
    words
      .replace('<date>', '2026-01-01')
      .replace('<source>.<pair>', 'fixed.usd-idr')
      .replace('<stream>', 'EVENTS')
      .replace('<service>', 'payments')
      .replace('…', stack.info.nats.admin.password)

  test.each(natsCommands())('an operator can run `nats %s`, as the documents say', async (words) => {
    const { code, text } = await shell.run(`nats ${filled(words)}`)
    expect([code, text.match(refused)?.[0]]).toEqual([0, undefined])
    for (const one of shows[words] ?? []) expect(text).toContain(one)
  })

  test('the documents name every command that a test expects an output of', () => {
    expect(Object.keys(shows).filter((words) => !natsCommands().includes(words))).toEqual([])
  })
})
