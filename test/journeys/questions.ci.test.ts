import { expect, test } from 'bun:test'
import { connect, type NatsConnection } from 'nats'
import { questions } from '#shared/messages/catalogue'
import { sharedStack } from '#test/support/stack'
import { waitUntil } from '#test/support/wait'

async function answeredBy(nc: NatsConnection): Promise<string[]> {
  const answered: string[] = []
  for await (const { name, endpoints } of await nc.services.client().info())
    for (const { subject } of endpoints) answered.push(`${name} ${subject}`)
  return answered.sort()
}

test('every request of the catalogue is answered by its owner, and no other request is', async () => {
  const { info } = await sharedStack()
  const { url, admin } = info.nats
  const nc = await connect({ servers: url, user: admin.user, pass: admin.password })
  // The shared stack has no process `operations`, whose requests the console's suite covers.
  const ofServices = questions.filter(({ owner }) => owner !== 'operations')
  const wanted = ofServices.map(({ owner, subject }) => `${owner} ${subject}`).sort()
  let found: string[] = []
  try {
    // A busy service may respond too late to be counted.
    await waitUntil('all services reporting themselves', async () => {
      found = await answeredBy(nc)
      return found.length >= wanted.length
    }).catch(() => {})
  } finally {
    await nc.close()
  }
  expect(found).toEqual(wanted)
})
