import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Events, type NatsConnection } from 'nats'
import { provisionNats } from '#infra/nats/provision'
import {
  publishable,
  type Right,
  subscribable,
  unpublishable,
  unsubscribable,
} from '#infra/nats/rights'
import { questions } from '#shared/messages/catalogue'
import { type ServiceName, serviceNames } from '#shared/messages/topic'
import { type ScratchServer, startScratchServer } from '#test/support/scratch-server'

const publishes: Right[] = [
  ...publishable,
  ...unpublishable.map((subject) => ({ subject, users: [] })),
]
const subscriptions: Right[] = [
  ...subscribable,
  ...unsubscribable.map((subject) => ({ subject, users: [] })),
]
const allowedTo = (user: ServiceName, tries: readonly Right[], allowed: boolean) =>
  tries.filter(({ users }) => users.includes(user) === allowed).map(nameOf)
const nameOf = ({ subject, queue }: { subject: string; queue?: string | undefined }) =>
  queue ? `${subject} (${queue})` : subject

let server: ScratchServer
const denied = new Map<ServiceName, { publish: Set<string>; subscription: Set<string> }>()

beforeAll(async () => {
  server = await startScratchServer()
  await provisionNats({ url: server.url, user: 'admin', password: server.passwords.admin })
  for (const user of serviceNames) denied.set(user, await tryEverything(user))
})
afterAll(() => server[Symbol.asyncDispose]())

/** Publishes and subscribes to everything as one user and gathers what the server refused. */
async function tryEverything(user: ServiceName) {
  const nc = await server.connectAs(user)
  const refused = { publish: new Set<string>(), subscription: new Set<string>() }
  const allArrived = gather(nc, refused)
  for (const { subject } of publishes) nc.publish(subject)
  for (const { subject, queue } of subscriptions) {
    nc.subscribe(subject, { ...(queue ? { queue } : {}), callback: () => {} })
  }
  nc.publish(lastOfAll)
  await allArrived
  await nc.close()
  return refused
}

/** The client's types leave out the queue that it does tell. */
type Refusal = { operation: string; subject: string; queue?: string }

/** Refused to everybody: the server answers in order, so that all before it is known by then. */
const lastOfAll = 'nothing.follows'

async function gather(
  nc: NatsConnection,
  refused: Record<'publish' | 'subscription', Set<string>>,
): Promise<void> {
  for await (const status of nc.status()) {
    if (status.type !== Events.Error || !status.permissionContext) continue
    const { operation, subject, queue } = status.permissionContext as Refusal
    if (subject === lastOfAll) return
    refused[operation as 'publish' | 'subscription'].add(nameOf({ subject, queue }))
  }
}

describe.each(serviceNames)('the user %s', (user) => {
  test.each(allowedTo(user, publishes, true))('publishes %s', (subject) => {
    expect(denied.get(user)!.publish).not.toContain(subject)
  })
  test.each(allowedTo(user, publishes, false))('security: is refused to publish %s', (subject) => {
    expect(denied.get(user)!.publish).toContain(subject)
  })
  test.each(allowedTo(user, subscriptions, true))('subscribes to %s', (subject) => {
    expect(denied.get(user)!.subscription).not.toContain(subject)
  })
  test.each(allowedTo(user, subscriptions, false))('security: is refused to hear %s', (subject) => {
    expect(denied.get(user)!.subscription).toContain(subject)
  })
})

describe('every question', () => {
  test.each(questions.map((question) => [question.subject, question] as const))(
    '%s is answered by its owner to each of its askers',
    async (subject, { owner, askers }) => {
      const answering = await server.connectAs(owner)
      const service = await answering.services.add({ name: owner, version: '1.0.0' })
      service.addEndpoint('answer', {
        subject,
        handler: (_, message) => void message.respond('answer'),
      })
      await answering.flush()
      for (const asker of askers) {
        const nc = await server.connectAs(asker)
        expect((await nc.request(subject, '{}', { timeout: 2_000 })).string()).toBe('answer')
        await nc.close()
      }
      await answering.close()
    },
  )
})

describe('whoever has no password', () => {
  test.each(serviceNames)('security: is not let in as %s', async (user) => {
    const other = serviceNames.find((name) => name !== user)!
    const passwords = server.passwords
    await expect(server.connectWith(user, passwords[other])).rejects.toThrow(
      /Authorization Violation/,
    )
  })
})
