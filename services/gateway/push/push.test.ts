import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import type { NatsConnection } from 'nats'
import { openLog } from '#platform/log'
import { provisionNats, type ScratchServer, startScratchServer } from '#test/support/scratch-server'
import { waitUntil } from '#test/support/wait'
import { openPush } from './push'
import { answerResend } from './resend'
import { keyOf } from './signed-headers'

const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`
/** Time in ms after which an event is delivered again whose reader died. */
const ackWaitMs = 2_000

type Got = { id: string; type: string; data: { wallet: string; n: number }; headers: Headers; text: string }
const got: Got[] = []
type Answering = (one: Got) => number | Promise<number>
const takesAll: Answering = () => 204
let answer = takesAll
const endpoint = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const text = await request.text()
    const { headers } = request
    const one: Got = { id: headers.get('webhook-id')!, headers, text, ...JSON.parse(text) }
    got.push(one)
    return new Response(null, { status: await answer(one) })
  },
})

let server: ScratchServer
let payments: NatsConnection
let gateway: NatsConnection
let admin: NatsConnection
beforeAll(async () => {
  server = await startScratchServer()
  await provisionNats({ url: server.url, user: 'admin', password: server.passwords.admin, ackWaitMs })
  payments = await server.connectAs('payments')
  gateway = await server.connectAs('gateway')
  admin = await server.connectAs('admin')
})
afterAll(async () => {
  await Promise.all([payments.close(), gateway.close(), admin.close()])
  await server[Symbol.asyncDispose]()
  await endpoint.stop(true)
})
afterEach(() => {
  got.length = 0
  answer = takesAll
})

type Line = { msg: string; alarm?: boolean; sequence?: number; why?: string }
const lines: Line[] = []
const written: string[] = []
const log = openLog('gateway', 'info', {
  write: (line) => {
    written.push(line)
    lines.push(JSON.parse(line))
  },
})
const configOf = (more: Partial<Parameters<typeof openPush>[0]> = {}) => ({
  natsUrl: server.url,
  natsPasswordIntegrator: server.passwords.integrator,
  eventsUrl: `${endpoint.url}events`,
  eventsSecrets: [keyOf(secretOf(1))],
  ...more,
})
const start = (more: Parameters<typeof configOf>[0] = {}) =>
  openPush(configOf(more), Date.now, { log, fatal: () => {} })!

let published = 0
/** Place in the stream of the last event. */
let lastSeq = 0
/** Publishes events and returns their ids. */
async function publish(count = 1, subject = 'payments.paid'): Promise<string[]> {
  const ids: string[] = []
  for (let at = 0; at < count; at++) {
    const n = ++published
    const payload = JSON.stringify({ wallet: `0x${'11'.repeat(20)}`, n })
    lastSeq = (await payments.jetstream().publish(subject, payload, { msgID: `paid:${n}` })).seq
    ids.push(`paid:${n}`)
  }
  return ids
}
const consumer = async () => (await admin.jetstreamManager()).consumers.info('EVENTS', 'integrator')
/** Returns the number of unhandled events. A consumer counts a stored message a moment after its publisher has the response. */
const unhandled = async () => {
  const { num_pending, num_ack_pending, delivered } = await consumer()
  return Math.max(num_pending + num_ack_pending, delivered.stream_seq < lastSeq ? 1 : 0)
}
const allHandled = () => waitUntil('every event to be handled', async () => (await unhandled()) === 0)
const idsGot = () => got.map(({ id }) => id)

test('nothing is read and nothing is sent without a URL', async () => {
  expect(openPush(configOf({ eventsUrl: '', eventsSecrets: [] }), Date.now, { log, fatal: () => {} })).toBeUndefined()
  await publish()
  expect(await unhandled()).toBe(1)
  await using _push = start()
  await allHandled()
})

test('an alert is raised while the events cannot be read, of which no call tells, and not while they can', async () => {
  const opened = (more: Parameters<typeof configOf>[0]) => {
    const raised: string[] = []
    const write = (line: string) => {
      const { msg, alarm } = JSON.parse(line) as Line
      if (alarm) raised.push(msg)
    }
    const runtime = { log: openLog('gateway', 'info', { write }), fatal: () => {} }
    return { raised, push: openPush(configOf(more), Date.now, runtime, { everyMs: 50, unreadMaxMs: 2_000 })! }
  }
  const [right, wrong] = [opened({}), opened({ natsPasswordIntegrator: 'of yesterday' })]
  await using _right = right.push
  await using _wrong = wrong.push
  await publish()
  await allHandled()
  await waitUntil('the alert', () => wrong.raised.length > 0)
  expect(wrong.raised[0]).toBe('no events read for the integrator')
  expect(right.raised).toEqual([])
})

test('each event arrives once, with its id, type and payload, and one that is taken is not sent again', async () => {
  await using _push = start()
  const ids = [...(await publish(20)), ...(await publish(1, 'payments.review'))]
  await allHandled()
  expect(idsGot().toSorted()).toEqual(ids.toSorted())
  for (const { id, headers, text, data } of got) {
    const at = headers.get('webhook-timestamp')
    const right = createHmac('sha256', Buffer.alloc(32, 1)).update(`${id}.${at}.${text}`).digest('base64')
    expect(headers.get('webhook-signature')).toBe(`v1,${right}`)
    expect(`paid:${data.n}`).toBe(id)
  }
  expect(got.filter(({ type }) => type === 'payments.review').map(({ id }) => id)).toEqual([ids.at(-1)!])
})

test('security: events of the relayer stay inside', async () => {
  await using _push = start()
  const relayer = await server.connectAs('chain-relayer')
  await relayer.jetstream().publish('relay.credit.settled', '{}', { msgID: 'relay' })
  await relayer.close()
  const [id] = await publish()
  await allHandled()
  expect(idsGot()).toEqual([id!])
})

test('during a rotation each call has a signature by both secrets', async () => {
  await using _push = start({ eventsSecrets: [keyOf(secretOf(2)), keyOf(secretOf(1))] })
  await publish()
  await allHandled()
  const [{ id, headers, text }] = got as [Got]
  const at = headers.get('webhook-timestamp')
  const by = (byte: number) =>
    `v1,${createHmac('sha256', Buffer.alloc(32, byte)).update(`${id}.${at}.${text}`).digest('base64')}`
  expect(headers.get('webhook-signature')).toBe(`${by(2)} ${by(1)}`)
})

test('an event that is refused comes again under the same id, and does not hold up others', async () => {
  await using _push = start()
  const refused = `paid:${published + 1}`
  let times = 0
  answer = ({ id }) => (id === refused && ++times === 1 ? 500 : 204)
  const others = (await publish(30)).slice(1)
  await waitUntil('the others', () => others.every((id) => idsGot().includes(id)))
  await allHandled()
  expect(idsGot().filter((id) => id === refused)).toHaveLength(2)
  expect(lines.findLast(({ msg }) => msg === 'event not taken by the integrator, will retry')).toMatchObject({
    why: 'answered 500',
    type: 'payments.paid',
    messageId: refused,
    retryInMs: 5_000,
  })
})

test('a refused event is reported with its reason and next attempt, until it is taken', async () => {
  await using push = start()
  answer = () => 503
  const startedMs = Date.now()
  const [id] = await publish()
  const [refused] = await waitUntil('the refusal', () => push.refused().length > 0 && push.refused())
  const { seq } = await (await admin.jetstreamManager()).streams.getMessage('EVENTS', { last_by_subj: 'payments.paid' })
  expect(refused).toMatchObject({ sequence: seq, why: 'answered 503' })
  expect(Date.parse(refused!.retryAt) - startedMs).toBeGreaterThanOrEqual(5_000)
  answer = takesAll
  await allHandled()
  expect(idsGot()).toEqual([id!, id!])
  expect(push.refused()).toEqual([])
})

test('an endpoint that takes nothing is not called more often than the delays say', async () => {
  await using _push = start()
  answer = () => 503
  const ids = await publish(10)
  const startedMs = performance.now()
  await waitUntil('a second attempt of each', () => got.length >= 20)
  expect(performance.now() - startedMs).toBeGreaterThan(4_500)
  expect(ids.map((id) => idsGot().filter((one) => one === id).length)).toEqual(Array(10).fill(2))
  expect(got).toHaveLength(20)
  answer = takesAll
  await (await admin.jetstreamManager()).consumers.delete('EVENTS', 'integrator')
  await provisionNats({ url: server.url, user: 'admin', password: server.passwords.admin, ackWaitMs })
  await allHandled()
})

test('an event that waits for its turn at a slow endpoint is not sent twice', async () => {
  await using _push = start()
  answer = async () => {
    await Bun.sleep(0.7 * ackWaitMs)
    return 204
  }
  const ids = await publish(12)
  await allHandled()
  expect(idsGot().toSorted()).toEqual(ids.toSorted())
})

test('two instances share the events', async () => {
  const both = [start(), start({ eventsUrl: `${endpoint.url}other` })]
  const [first, second] = both
  answer = async () => {
    await Bun.sleep(50)
    return 204
  }
  const ids = await publish(60)
  await allHandled()
  expect(idsGot().toSorted()).toEqual(ids.toSorted())
  await Promise.all([first![Symbol.asyncDispose](), second![Symbol.asyncDispose]()])
})

test('an event whose gateway is killed during the call comes again from another, under the same id', async () => {
  const arrived = Promise.withResolvers<void>()
  answer = async () => {
    if (got.length > 1) return 204
    arrived.resolve()
    await Bun.sleep(60_000)
    return 204
  }
  const child = Bun.spawn([process.execPath, '-e', childScript], {
    cwd: import.meta.dir,
    env: { PATH: process.env.PATH ?? '', CONFIG: JSON.stringify({ ...configOf(), eventsSecrets: [secretOf(1)] }) },
    stdout: 'ignore',
    stderr: 'inherit',
  })
  const [id] = await publish()
  await arrived.promise
  child.kill('SIGKILL')
  await child.exited
  await using _push = start()
  await allHandled()
  expect(idsGot()).toEqual([id!, id!])
})

const childScript = `
  import { openLog } from '#platform/log'
  import { openPush } from '${import.meta.dir}/push'
  import { keyOf } from '${import.meta.dir}/signed-headers'
  const config = JSON.parse(process.env.CONFIG)
  openPush({ ...config, eventsSecrets: config.eventsSecrets.map(keyOf) }, Date.now, { log: openLog('gateway', 'silent'), fatal: () => {} })
`

test('an orderly stop gives an open call back at once, and another instance sends the event', async () => {
  const first = start()
  const arrived = Promise.withResolvers<void>()
  answer = async () => {
    if (got.length > 1) return 204
    arrived.resolve()
    await Bun.sleep(60_000)
    return 204
  }
  const [id] = await publish()
  await arrived.promise
  const startedMs = performance.now()
  await first[Symbol.asyncDispose]()
  expect(performance.now() - startedMs).toBeLessThan(4_000)
  await using _push = start()
  await allHandled()
  expect(idsGot()).toEqual([id!, id!])
})

test('an event that can never be delivered ends with an alarm that names it, and stays in the stream', async () => {
  const manager = await admin.jetstreamManager()
  const payload = 'no JSON'
  const { seq } = await admin.jetstream().publish('payments.paid', payload, { msgID: 'broken' })
  await using _push = start()
  const isAlarm = ({ alarm, sequence }: Line) => alarm && sequence === seq
  const line = await waitUntil('the alarm', () => lines.find(isAlarm))
  expect(line).toMatchObject({ msg: 'event not delivered, given up', messageId: 'broken', why: 'payload is not JSON' })
  await allHandled()
  expect(got).toEqual([])
  expect((await manager.streams.getMessage('EVENTS', { seq })).seq).toBe(seq)
})

const commandOf = (sequence: number) => ({
  command: crypto.randomUUID(),
  by: 'sari',
  reason: 'lost there',
  sequence,
})

test('an operator sends an event again under its id, and learns what the server answered', async () => {
  await using push = start()
  const [id] = await publish()
  await allHandled()
  const resend = answerResend(push, { nc: gateway }, log)
  const ask = (sequence: number) => resend.answer(commandOf(sequence))
  const { seq } = await (await admin.jetstreamManager()).streams.getMessage('EVENTS', { last_by_subj: 'payments.paid' })
  expect(await ask(seq)).toEqual({ ok: { done: `payments.paid ${seq} was taken by the integrator` } })
  expect(idsGot()).toEqual([id!, id!])
  expect(got[1]!.text).toBe(got[0]!.text)
  answer = () => 500
  expect(await ask(seq)).toEqual({ ok: { refused: `payments.paid ${seq} was not taken: answered 500` } })
  const gone = { ok: { refused: 'event 999999 is not stored; events are kept for 30 days' } }
  expect(await ask(999_999)).toEqual(gone)
  const off = { ok: { refused: 'EVENTS_URL is not set: events are not sent by HTTP' } }
  expect(await answerResend(undefined, { nc: gateway }, log).answer(commandOf(seq))).toEqual(off)
})

test('security: an event of the relayer is not sent for an operator either', async () => {
  await using push = start()
  const relayer = await server.connectAs('chain-relayer')
  const { seq } = await relayer.jetstream().publish('relay.credit.settled', '{}', { msgID: 'relay again' })
  await relayer.close()
  expect(await answerResend(push, { nc: gateway }, log).answer(commandOf(seq))).toEqual({
    ok: { refused: `${seq} is relay.credit.settled, which is not for the integrator` },
  })
  expect(got).toEqual([])
})

test('security: a wrong password of the integrator stops no gateway, and its log says whose it is', async () => {
  const push = start({ natsPasswordIntegrator: 'wrong' })
  const isSaid = ({ msg, user }: Line & { user?: string }) => msg === 'nats unavailable' && user === 'integrator'
  await waitUntil('the line', () => lines.find(isSaid))
  await push[Symbol.asyncDispose]()
})

test('security: no line of the log has a secret, a payload or the path of the endpoint', () => {
  expect(written.length).toBeGreaterThan(5)
  const all = written.join('')
  for (const secret of [secretOf(1), secretOf(2), '0x1111', server.passwords.integrator, 'v1,', '/events'])
    expect(all).not.toContain(secret)
})
