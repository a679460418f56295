import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import {
  ErrorCode,
  type JetStreamManager,
  type NatsConnection,
  NatsError,
  nanos,
  StoreCompression,
  type StreamConfig,
} from 'nats'
import { waitUntil } from '#infra/local/wait'
import { ensureConsumer, ensureStream, provisionNats } from '#infra/nats/provision'
import { consumers, streams } from '#infra/nats/topology'
import { openBus } from '#platform/bus/open'
import { publish } from '#platform/bus/publish'
import { openLog } from '#platform/log'
import { questions, topics } from '#shared/messages/catalogue'
import { paymentsWebhookSubject } from '#shared/messages/webhooks'
import { type ScratchServer, startScratchServer } from '#test/support/scratch-server'

let server: ScratchServer
let admin: NatsConnection
let manager: JetStreamManager
const provision = () => provisionNats({ url: server.url, user: 'admin', password: server.passwords.admin })
beforeAll(async () => {
  server = await startScratchServer()
  await provision()
  admin = await server.connectAs('admin')
  manager = await admin.jetstreamManager()
})
afterAll(async () => {
  await admin.close()
  await server[Symbol.asyncDispose]()
})

const faultOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: NatsError) => error.api_error,
  )

describe('provisioning', () => {
  test('provisioning can be repeated, also by two processes at once', async () => {
    await Promise.all([provision(), provision()])
    const names = await manager.streams.names().next()
    expect(names.toSorted()).toEqual(streams.map(({ name }) => name).toSorted())
  })

  test.each(['sync_interval: "2m"', 'sync_interval: "10s"', ''])(
    'provisioning refuses a server that acknowledges messages before they are on disk: %p',
    async (setting) => {
      const synced = 'sync_interval: always'
      await using lazy = await startScratchServer('', (conf) => conf.replace(synced, setting))
      const { url, passwords } = lazy
      const provisioned = provisionNats({ url, user: 'admin', password: passwords.admin })
      await expect(provisioned).rejects.toThrow(`set "${synced}"`)
    },
  )

  test('provisioning refuses a stream that acknowledges messages before they are on disk', async () => {
    await using other = await startScratchServer()
    const nc = await other.connectAs('admin')
    const { name, subjects } = streams[0]!
    const { streams: made } = await nc.jetstreamManager()
    await made.add({ name, subjects: subjects!, persist_mode: 'async' } as Partial<StreamConfig>)
    await nc.close()
    const { url, passwords } = other
    const provisioned = provisionNats({ url, user: 'admin', password: passwords.admin })
    await expect(provisioned).rejects.toThrow(`stream ${name}`)
  })

  test('provisioning connects again if this process was too busy to sign in within two seconds', async () => {
    const provisioned = provision()
    await new Promise<void>((resolve) =>
      setTimeout(() => {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_000)
        resolve()
      }),
    )
    await provisioned
  })

  test('provisioning waits for a server that does not accept connections yet', async () => {
    await using other = await startScratchServer()
    await other.stop()
    const { url, passwords } = other
    const { promise: tried, resolve } = Promise.withResolvers<void>()
    let tries = 0
    const closed = createServer((socket) => {
      socket.destroy()
      if (++tries > 20) resolve()
    }).listen(Number(new URL(url).port), '127.0.0.1')
    const provisioned = provisionNats({ url, user: 'admin', password: passwords.admin, acceptsWithinMs: 60_000 })
    await Promise.race([tried, provisioned])
    closed.close()
    await other.start()
    await provisioned
  })

  test('provisioning restores a setting that was changed, and keeps the messages', async () => {
    const before = await admin.jetstream().publish('payments.paid', '{}')
    await manager.streams.update('EVENTS', { duplicate_window: nanos(1_000) })
    await manager.consumers.update('EVENTS', 'payments', { max_ack_pending: 1 })
    await provision()
    const stream = await manager.streams.info('EVENTS')
    expect(stream.config.duplicate_window).toBe(nanos(600_000))
    expect(stream.state.last_seq).toBe(before.seq)
    expect((await manager.consumers.info('EVENTS', 'payments')).config.max_ack_pending).toBe(64)
  })

  test('provisioning restores a consumer that was deleted', async () => {
    await manager.consumers.delete('EVENTS', 'gateway')
    await provision()
    expect((await manager.consumers.info('EVENTS', 'gateway')).name).toBe('gateway')
  })

  test.each([
    ['a plain store', ''],
    ['an encrypted store', 'a key of the suite'],
  ])(
    'provisioning restores a consumer of %s whose file is damaged, also for later starts of the server',
    async (_, storeKey) => {
      await using other = await startScratchServer(storeKey)
      const restored = () => provisionNats({ url: other.url, user: 'admin', password: other.passwords.admin })
      const consumerNow = async () => {
        const nc = await other.connectAs('admin')
        const found = (await nc.jetstreamManager()).consumers.info('EVENTS', 'payments')
        return found
          .then(({ name }) => name)
          .catch(({ message }) => message)
          .finally(() => nc.close())
      }
      await restored()
      await other.stop()
      const file = join(other.storeDir, 'jetstream/APP/streams/EVENTS/obs/payments/meta.inf')
      const bytes = readFileSync(file)
      writeFileSync(file, bytes.fill(0, 20, 40))
      await other.start()
      expect(await consumerNow()).toBe('consumer not found')
      await restored()
      await other.stop()
      await other.start()
      expect(await consumerNow()).toBe('payments')
    },
  )

  test('provisioning waits for a stream that the asked node does not know yet', async () => {
    await manager.streams.delete('EVENTS')
    const plan = consumers.EVENTS!.find(({ durable_name }) => durable_name === 'gateway')!
    const made = ensureConsumer(manager, 'EVENTS', plan)
    // Two answers to one connection come in the order of the requests, and the first answer was "not found".
    expect(await faultOf(manager.streams.info('EVENTS'))).toMatchObject({ err_code: 10059 })
    await provision()
    await made
    expect((await manager.consumers.info('EVENTS', 'gateway')).name).toBe('gateway')
  })

  test('provisioning waits for a stream that was added without an answer, until the asked node knows it', async () => {
    await manager.streams.delete('EVENTS')
    const plan = streams.find(({ name }) => name === 'EVENTS')!
    let unheard = 2
    const asked = {
      add: async (config: StreamConfig) => {
        await manager.streams.add(config)
        throw new NatsError('timeout', ErrorCode.Timeout)
      },
      update: (name: string, config: StreamConfig) => manager.streams.update(unheard-- > 0 ? 'UNHEARD' : name, config),
    }
    await ensureStream({ ...manager, streams: asked } as never, plan, 1)
    expect((await manager.streams.info('EVENTS')).config.name).toBe('EVENTS')
    await provision()
  })

  test.each(
    Object.entries(consumers).flatMap(([stream, plans]) =>
      plans.map((plan) => [stream, plan.durable_name, plan] as const),
    ),
  )('gives %s/%s explicit acknowledgement and no delivery limit', async (stream, name, plan) => {
    const { config } = await manager.consumers.info(stream, name)
    expect(config).toMatchObject({
      ack_policy: 'explicit',
      ack_wait: nanos(20_000),
      max_ack_pending: name === 'integrator' ? 10_000 : 64,
      max_deliver: -1,
    })
    const filters = config.filter_subjects ?? [config.filter_subject]
    expect(filters.toSorted()).toEqual(plan.filter_subjects!.toSorted())
  })
})

describe('a stream', () => {
  test.each(topics.map((topic) => [topic.subject, topic.stream] as const))(
    'a message on %s is stored in the stream %s',
    async (subject, stream) => {
      const stored = await admin.jetstream().publish(subject.replace('.>', '.ID.1'), '{}')
      expect(stored.stream).toBe(stream)
    },
  )

  test.each(questions.map(({ subject }) => subject))('no stream answers requests on %s', async (subject) => {
    await expect(admin.request(subject, '{}', { timeout: 20_000 })).rejects.toThrow('503')
  })

  // guard: no user can remove a message from a stream
  test.each(['WEBHOOKS', 'COMMANDS', 'EVENTS', 'ADVISORIES'])(
    'the stream %s refuses to remove messages, even for admin',
    async (name) => {
      await expect(manager.streams.purge(name)).rejects.toThrow(/purge/)
      await expect(manager.streams.deleteMessage(name, 1)).rejects.toThrow(/delete/)
    },
  )

  // guard: a webhook is stored once while its stream retains messages
  test('WEBHOOKS stores a delivery once: by id within the window, by subject until it expires', async () => {
    // The stream is created again, because a window that is shortened in place may still end as late as before (tried).
    // The window is long enough for two publications on a busy machine.
    const plan = streams.find(({ name }) => name === 'WEBHOOKS')!
    await manager.streams.delete('WEBHOOKS')
    await manager.streams.add({ ...plan, duplicate_window: nanos(3_000) })
    const gateway = await server.connectAs('gateway')
    const js = gateway.jetstream()
    const publish = (msgID: string) => js.publish('webhooks.payments.ID.twice', '{}', { msgID })
    expect((await publish('twice')).duplicate).toBe(false)
    expect((await publish('twice')).duplicate).toBe(true)
    const refusal = await waitUntil('the end of the window', () => faultOf(publish('twice')))
    expect(refusal.err_code).toBe(10077)
    await gateway.close()
    await provision()
  })

  test.each([
    ['payments', paymentsWebhookSubject('ID', 'payments', 'dlv_1'), ['payments']],
    ['payouts', paymentsWebhookSubject('MY', 'payouts', 'dlv_2'), ['payouts']],
    ['a gateway of the version before', 'webhooks.payments.ID.dlv_3', ['payments', 'payouts']],
  ])('a delivery of %s is for its reader alone, or for both if it names none', async (_, subject, readers) => {
    const pendingOf = async (name: string) => (await manager.consumers.info('WEBHOOKS', name)).num_pending
    const names = ['payments', 'payouts', 'gateway']
    const before = await Promise.all(names.map(pendingOf))
    await admin.jetstream().publish(subject, '{}')
    // The server confirms a message before it counts it for the consumers.
    const reached = async () => {
      const after = await Promise.all(names.map(pendingOf))
      return names.filter((_, at) => after[at]! > before[at]!)
    }
    await waitUntil('the message', async () => (await reached()).length >= readers.length)
    expect(await reached()).toEqual(readers)
  })

  test.each(streams.map(({ name }) => name))(
    'the stream %s has a size limit, also if it was created before',
    async (name) => {
      await manager.streams.update(name, { max_bytes: -1 })
      await provision()
      expect((await manager.streams.info(name)).config.max_bytes).toBeGreaterThan(0)
    },
  )

  test.each(['WEBHOOKS', 'COMMANDS', 'EVENTS', 'ADVISORIES'])(
    'the stream %s is compressed and expires by age, also if it was created before',
    async (name) => {
      const { compression: s2, max_age: keptNs } = (await manager.streams.info(name)).config
      expect(keptNs).toBeGreaterThan(0)
      await manager.streams.update(name, { compression: StoreCompression.None, max_age: 0 })
      await provision()
      const { config } = await manager.streams.info(name)
      expect(config).toMatchObject({ compression: s2!, max_age: keptNs })
      expect(s2).toBe(StoreCompression.S2)
    },
  )

  test("the sum of all size limits is below the server's limit", async () => {
    const bounds = streams.map(({ max_bytes: bytes }) => bytes!)
    const file = readFileSync(join(import.meta.dir, 'nats-server.conf'), 'utf8')
    const gigabytes = Number(/max_file_store: (\d+)GB/.exec(file)![1])
    expect(bounds.reduce((sum, bound) => sum + bound, 0)).toBeLessThan(gigabytes * 1e9)
  })

  test.each(['webhooks.payments.ID.full', 'relay.verify', 'identity.decided'])(
    'a full stream refuses %s, which is not taken for a duplicate',
    async (subject) => {
      const stream = await manager.streams.find(subject)
      const { state } = await manager.streams.info(stream)
      await manager.streams.update(stream, { max_bytes: Math.max(1, state.bytes) })
      const { url, passwords } = server
      const as = { user: 'gateway', password: passwords.gateway, name: 'gateway' }
      const log = openLog('suite', 'silent')
      await using bus = await openBus({ url, ...as, log, onFatal: () => {} })
      const message = { subject, id: randomUUID(), payload: {} }
      const refusal = await faultOf(publish(bus, message))
      expect(refusal?.description).toBe('maximum bytes exceeded')
      await provision()
      expect(await publish(bus, message)).toBe('stored')
    },
  )

  test('ADVISORIES stores a delivery that ended without an acknowledgement', async () => {
    const js = admin.jetstream()
    await js.publish('webhooks.payments.ID.odd', '{}')
    const consumer = await js.consumers.get('WEBHOOKS', 'payments')
    ;(await consumer.next({ expires: 2_000 }))!.term()
    await waitUntil('the advisory', async () => (await manager.streams.info('ADVISORIES')).state.messages > 0)
  })
})
