import { expect, test } from 'bun:test'
import { provisionNats } from '#infra/nats/provision'
import { ReturnOrdered } from '#shared/messages/relay'
import { startScratchServer } from '#test/support/scratch-server'
import { readBus } from './bus'

test('a restore reads the ordered returns of cash-outs from JetStream, also acknowledged ones', async () => {
  await using server = await startScratchServer()
  const { url, passwords } = server
  await provisionNats({ url, user: 'admin', password: passwords.admin })
  const payouts = await server.connectAs('payouts')
  for (const payoutId of ['acknowledged', 'waiting'])
    for (const msgID of [`${payoutId}-1`, `${payoutId}-2`]) {
      const order = JSON.stringify({ payoutId, wallet: '0x1', ausd: '5' })
      await payouts.jetstream().publish(ReturnOrdered.subject, order, { msgID })
    }
  const relayer = await server.connectAs('chain-relayer')
  const consumer = await relayer.jetstream().consumers.get('COMMANDS', 'chain-relayer')
  await (await consumer.next())!.ackAck()
  const { returns } = await readBus({ url, password: passwords.admin }, new Date(Date.now() - 60_000))
  expect([...returns]).toEqual([
    ['acknowledged', ['acknowledged-1', 'acknowledged-2']],
    ['waiting', ['waiting-1', 'waiting-2']],
  ])
  await Promise.all([payouts.close(), relayer.close()])
})
