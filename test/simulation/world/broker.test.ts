import { expect, test } from 'bun:test'
import { Broker } from './broker'
import { replayed } from './choices'
import { type Process, World } from './world'

test('a handler that throws is a finding, and its message is delivered again', async () => {
  const world = new World(
    replayed([]),
    undefined,
    () => {},
    () => {},
  )
  const broker = new Broker(world, () => ['payments'])
  const process: Process = { service: 'payments', name: 'one', isAlive: true, frozenUntil: 0 }
  let deliveries = 0
  const handle = async () => {
    deliveries += 1
    if (deliveries === 1) throw new Error('no room')
    return 'done' as const
  }
  broker.read('payments', { process, handle })
  broker.publish({ id: 'msg_1', subject: 'relay.credit.settled', payload: {} })
  while (broker.waiting > 0 && world.step());
  expect([...world.bugs]).toEqual(['Error: no room'])
  expect(deliveries).toBe(2)
})
