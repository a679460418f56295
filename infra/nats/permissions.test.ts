import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Events, headers, type NatsConnection } from 'nats'
import { provisionNats } from '#infra/nats/provision'
import { type Grant, rightsOf } from '#infra/nats/rights'
import { consumers, streams } from '#infra/nats/topology'
import { questions, topics } from '#shared/messages/catalogue'
import { type BusUser, busUsers, processNames, serviceNames } from '#shared/messages/topic'
import { type ScratchServer, startScratchServer } from '#test/support/scratch-server'

type Right = {
  readonly subject: string
  readonly queue?: string
  readonly users: readonly BusUser[]
}

const concrete = (subject: string) => subject.replace('.>', '.ID.delivery-1')

const durables = Object.entries(consumers).flatMap(([stream, plans]) =>
  plans.map((plan) => ({ stream, reader: plan.durable_name })),
)

const ofOneCopy = questions.flatMap(({ owner, subject, askers, repeat }) =>
  repeat ? [{ owner, askers, subject: `copies.${owner}.copy-1.${subject}` }] : [],
)
const seekersOf = (service: BusUser): BusUser[] => [
  service,
  ...ofOneCopy.flatMap(({ owner, askers }) => (owner === service ? askers : [])),
]

const srvVerbs = ['PING', 'INFO', 'STATS']
const to = (users: readonly BusUser[], ...subjects: string[]): Right[] =>
  subjects.map((subject) => ({ subject, users }))

/**
 * Rights to publish. They are derived from the catalogue and the topology alone, so that a mistake in rights.ts fails
 * here.
 */
const publishable: readonly Right[] = [
  ...topics.flatMap((topic) => to(topic.publishers, concrete(topic.subject))),
  ...questions.flatMap((question) => to(question.askers, question.subject)),
  ...ofOneCopy.flatMap(({ subject, askers }) => to(askers, subject)),
  ...serviceNames.flatMap((name) => to(seekersOf(name), `copies.${name}`)),
  ...to(['gateway'], 'copies.operations', 'metrics'),
  ...to(['gateway', 'ops', 'operations'], '$SRV.PING', '$SRV.PING.payments.instance'),
  ...to(['ops', 'operations'], '$SRV.STATS'),
  ...to(['ops'], '$SRV.PING.payments', '$SRV.STATS.payments', '$SRV.STATS.payments.instance'),
  ...to(['ops'], '$SRV.INFO', '$SRV.INFO.payments', '$SRV.INFO.payments.instance'),
  ...to(['operations'], 'operations.console.feed'),
  ...to(['gateway'], 'gateway.news'),
  ...streams.flatMap(({ name }) => to(['operations'], `heartbeat.${name}.id`)),
  ...processNames.flatMap((name) => to([name], `copies-left.${name}`)),
  ...streams.flatMap(({ name }) => to(['gateway', 'ops', 'operations'], `$JS.API.STREAM.INFO.${name}`)),
  ...durables.flatMap(({ stream, reader }) =>
    to([reader, 'ops', 'operations'], `$JS.API.CONSUMER.INFO.${stream}.${reader}`),
  ),
  ...durables.flatMap(({ stream, reader }) =>
    to([reader], `$JS.API.CONSUMER.MSG.NEXT.${stream}.${reader}`, `$JS.ACK.${stream}.${reader}.1.1.1.1.1`),
  ),
  ...to(['pricing'], '$KV.rates.key'),
  ...to(['pricing', 'ops'], '$KV.rates.release.usd-idr', '$JS.API.INFO'),
  ...to(['pricing', 'ops'], '$JS.API.STREAM.MSG.GET.KV_rates'),
  ...to(['ops', 'operations'], '$JS.API.STREAM.MSG.GET.WEBHOOKS'),
  ...to(['ops', 'gateway'], '$JS.API.STREAM.MSG.GET.EVENTS'),
  ...['COMMANDS', 'ADVISORIES'].flatMap((stream) => to(['ops'], `$JS.API.STREAM.MSG.GET.${stream}`)),
  ...to(['ops'], '$JS.API.STREAM.NAMES', '$JS.API.STREAM.LIST'),
  ...streams.flatMap(({ name }) => to(['ops'], `$JS.API.CONSUMER.NAMES.${name}`, `$JS.API.CONSUMER.LIST.${name}`)),
]

const unpublishable: readonly string[] = [
  ...streams.flatMap(({ name }) => [
    ...['CREATE', 'UPDATE', 'DELETE', 'PURGE', 'MSG.DELETE', 'SNAPSHOT', 'RESTORE'].map(
      (verb) => `$JS.API.STREAM.${verb}.${name}`,
    ),
    `$JS.API.DIRECT.GET.${name}`,
    `$JS.API.DIRECT.GET.${name}.subject`,
    `$JS.API.CONSUMER.CREATE.${name}.other.subject`,
    `$JS.API.CONSUMER.CREATE.${name}`,
  ]),
  ...durables.flatMap(({ stream, reader }) => [
    `$JS.API.CONSUMER.CREATE.${stream}.${reader}`,
    `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.${reader}`,
    `$JS.API.CONSUMER.DELETE.${stream}.${reader}`,
    `$JS.API.CONSUMER.PAUSE.${stream}.${reader}`,
  ]),
  '$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.EVENTS.payments',
  '$SYS.REQ.SERVER.PING',
  ...busUsers.map((name) => `_INBOX_${name}.reply`),
  'webhooks.other.1',
  'relay.other',
  'payments.other',
  'nothing.known',
]

/** Rights to subscribe. A service receives its requests only in its queue group. */
const subscribable: readonly Right[] = [
  ...questions.map(({ subject, owner }) => ({ subject, queue: 'q', users: [owner] })),
  ...ofOneCopy.flatMap(({ subject, owner }) => to([owner], subject)),
  ...processNames.flatMap((name) => to([name], `copies.${name}`)),
  ...to(['gateway', 'operations'], 'copies-left.*'),
  ...to(['gateway'], 'operations.console.feed', 'gateway.news'),
  ...topics.flatMap(({ subject }) => to(['console'], subject)),
  ...busUsers.flatMap((name) => to([name], `_INBOX_${name}.reply`, `_INBOX_${name}.>`)),
  ...srvVerbs.flatMap((verb) => to(processNames, `$SRV.${verb}`)),
  ...to(processNames, 'metrics'),
  ...srvVerbs.flatMap((verb) =>
    processNames.flatMap((name) => to([name], `$SRV.${verb}.${name}`, `$SRV.${verb}.${name}.instance`)),
  ),
]

const unsubscribable: readonly string[] = [
  '>',
  '*',
  'copies.>',
  '_INBOX.>',
  '$SRV.>',
  '$JS.>',
  '$KV.>',
  '$SYS.>',
  '$JS.EVENT.ADVISORY.>',
  ...questions.map(({ subject }) => subject), // These subscriptions are outside the queue group.
]

const publishes: Right[] = [...publishable, ...unpublishable.map((subject) => ({ subject, users: [] }))]
const subscriptions: Right[] = [...subscribable, ...unsubscribable.map((subject) => ({ subject, users: [] }))]
const nameOf = ({ subject, queue }: { subject: string; queue?: string | undefined }) =>
  queue ? `${subject} (${queue})` : subject

let server: ScratchServer
const denied = new Map<BusUser, { publish: Set<string>; subscription: Set<string> }>()

beforeAll(async () => {
  server = await startScratchServer()
  await provisionNats({ url: server.url, user: 'admin', password: server.passwords.admin })
  for (const user of busUsers) denied.set(user, await tryEverything(user))
})
afterAll(() => server[Symbol.asyncDispose]())

async function tryEverything(user: BusUser) {
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

/** Error of the client. Its types omit the queue that the client provides. */
type RefusedRight = { operation: string; subject: string; queue?: string }

/** Subject that is refused to every user. The server answers in order, so all earlier refusals are known by then. */
const lastOfAll = 'nothing.follows'

async function gather(nc: NatsConnection, refused: Record<'publish' | 'subscription', Set<string>>): Promise<void> {
  for await (const status of nc.status()) {
    if (status.type !== Events.Error || !status.permissionContext) continue
    const { operation, subject, queue } = status.permissionContext as RefusedRight
    if (subject === lastOfAll) return
    refused[operation as 'publish' | 'subscription'].add(nameOf({ subject, queue }))
  }
}

/** Returns the rights that a user must not have, sorted, so that a difference names the subject. */
const refusedTo = (user: BusUser, tries: readonly Right[]): string[] =>
  [...new Set(tries.filter(({ users }) => !users.includes(user)).map(nameOf))].sort()

describe('security: nats-server refuses exactly what the catalogue does not grant:', () => {
  // guard: only payments orders a credit
  test.each(busUsers)(
    'security: nats-server refuses to publish for %s exactly what the catalogue does not grant',
    (user) => {
      expect([...denied.get(user)!.publish].sort()).toEqual(refusedTo(user, publishes))
    },
  )

  test.each(busUsers)(
    'security: nats-server refuses to subscribe for %s exactly what the catalogue does not grant',
    (user) => {
      expect([...denied.get(user)!.subscription].sort()).toEqual(refusedTo(user, subscriptions))
    },
  )
})

describe('security: users.gen.conf grants only the permissions tried above', () => {
  test.each(busUsers)('security: users.gen.conf grants %s only the permissions tried above', (user) => {
    const { publish, subscribe } = rightsOf(user)
    const beyond = (grants: readonly Grant[], tries: readonly Right[]) => {
      const own = tries.filter(({ users }) => users.includes(user))
      return grants.flatMap(({ subjects }) => subjects).filter((right) => !own.some((tried) => covers(right, tried)))
    }
    expect(beyond(publish, publishable)).toEqual([])
    expect(beyond(subscribe, subscribable)).toEqual([])
  })
})

function covers(right: string, { subject, queue }: Right): boolean {
  const [pattern = '', group] = right.split(' ')
  const words = pattern.replace(/[$.]/g, '\\$&').replaceAll('*', '[^.]+').replace('>', '.+')
  return group === queue && new RegExp(`^${words}$`).test(subject)
}

describe('every request', () => {
  test.each(questions.map((question) => [question.subject, question] as const))(
    '%s is answered by its owner to each of its callers',
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

test('security: the console cannot confirm to a publisher that its message is stored', async () => {
  const publisher = await server.connectAs('payments')
  const listener = await server.connectAs('console')
  const refused = { publish: new Set<string>(), subscription: new Set<string>() }
  const heard = Promise.withResolvers<void>()
  const { subject } = topics.find(({ publishers }) => publishers.includes('payments'))!
  listener.subscribe(subject, {
    callback: (_, message) => {
      message.respond('{"stream":"FORGED","seq":1}')
      listener.publish(lastOfAll)
      heard.resolve()
    },
  })
  await listener.flush()
  const told = gather(listener, refused)
  const answer = await publisher.request(subject, '{}', { timeout: 2_000 })
  await Promise.all([heard.promise, told])
  expect(answer.string()).not.toContain('FORGED')
  expect([...refused.publish][0]).toStartWith('_INBOX_payments.')
  await Promise.all([publisher.close(), listener.close()])
})

const withoutAnswers = busUsers.filter((name) => !processNames.some((process) => process === name))
test.each(withoutAnswers)(
  'security: %s, which serves no requests, cannot publish to the reply subject of a message',
  async (user) => {
    const listener = await server.connectAs(user)
    const admin = await server.connectAs('admin')
    const refused = { publish: new Set<string>(), subscription: new Set<string>() }
    const told = gather(listener, refused)
    listener.subscribe(`_INBOX_${user}.one`, {
      callback: (_, message) => {
        message.respond('forged')
        listener.publish(lastOfAll)
      },
    })
    await listener.flush()
    const { subject } = topics[0]!
    admin.publish(`_INBOX_${user}.one`, '', { reply: concrete(subject) })
    await told
    expect([...refused.publish]).toEqual([concrete(subject)])
    await Promise.all([listener.close(), admin.close()])
  },
)

describe('a client without a password', () => {
  test.each(busUsers)('security: a client without a password is not admitted as %s', async (user) => {
    const other = busUsers.find((name) => name !== user)!
    const passwords = server.passwords
    await expect(server.connectWith(user, passwords[other])).rejects.toThrow(/Authorization Violation/)
  })
})

test('security: ops releases a rate jump and removes no other rate of the bucket', async () => {
  const [pricing, ops] = [await server.connectAs('pricing'), await server.connectAs('ops')]
  const release = '$KV.rates.release.usd-idr'
  const kept = () => pricing.jetstream().views.kv('rates', { bindOnly: true })
  await (await kept()).put('accepted.usd-idr', '16250')
  const rollup = headers()
  rollup.set('Nats-Rollup', 'all')
  const publish = (options: object) =>
    ops
      .jetstream()
      .publish(release, '16300', options)
      .then(
        () => 'stored',
        (error: Error) => error.message,
      )
  expect(await publish({ headers: rollup })).toMatch(/rollup/)
  expect(await publish({})).toBe('stored')
  expect((await (await kept()).get('accepted.usd-idr'))?.string()).toBe('16250')
  await Promise.all([pricing.close(), ops.close()])
})
