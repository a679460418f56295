import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { connect } from 'nats'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { creditedTopUp } from '#test/support/flows'
import { verifiedUser } from '#test/support/people'
import { quickChecks } from '#test/support/settings'
import { operate, ownStack } from '#test/support/stack'
import { waitUntil } from '#test/support/wait'

const key = Buffer.alloc(32, 9)

type Got = { id: string; type: string; data: { wallet: string }; isSigned: boolean }
const got: Got[] = []
let status = 204
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const text = await request.text()
    const [id, at] = [request.headers.get('webhook-id')!, request.headers.get('webhook-timestamp')]
    const right = `v1,${createHmac('sha256', key).update(`${id}.${at}.${text}`).digest('base64')}`
    got.push({ id, isSigned: request.headers.get('webhook-signature') === right, ...JSON.parse(text) })
    return new Response(null, { status })
  },
})

let stack: Stack
let person: Person
let paymentId: string
beforeAll(async () => {
  const gateway = { EVENTS_URL: server.url.href, EVENTS_SECRETS: `whsec_${key.toString('base64')}` }
  stack = await ownStack({ copies: 2, env: { ...quickChecks, gateway } })
  person = await verifiedUser(stack)
  paymentId = (await creditedTopUp(stack, person)).id
})
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]()
  await server.stop(true)
})

type Listed = { sequence: number; type: string; wallet: string; id: string; progress: string; data: object }
async function list(...words: string[]): Promise<Listed[]> {
  const { said } = await operate(stack, 'events', 'list', '--json', ...words)
  return JSON.parse(said).events
}

test("the integrator's server gets the events of a top-up, signed, once each from two gateways", async () => {
  const types = ['identity.decided', 'payments.paid', 'payments.settled']
  const own = () => got.filter(({ data }) => data.wallet.toLowerCase() === person.wallet.toLowerCase())
  await waitUntil('the events', () => types.every((type) => own().some((one) => one.type === type)))
  expect(
    own()
      .map(({ type }) => type)
      .sort(),
  ).toEqual(types)
  expect(own().every(({ isSigned }) => isSigned)).toBe(true)
})

test('ops events list shows what is in the stream, by type and wallet, and what was taken', async () => {
  const own = await waitUntil('every event being taken', async () => {
    const events = await list('--wallet', person.wallet)
    return events.every(({ progress }) => progress === 'taken') && events
  })
  const ids = got.filter(({ data }) => data.wallet.toLowerCase() === person.wallet.toLowerCase()).map(({ id }) => id)
  expect(own.map(({ id }) => id).sort()).toEqual(ids.sort())
  const [paid, ...others] = await list(
    '--type',
    'payments.paid',
    '--wallet',
    person.wallet.toUpperCase().replace('X', 'x'),
  )
  expect(others).toEqual([])
  expect(paid).toMatchObject({ type: 'payments.paid', data: { paymentId } })
  expect(await list('--to', '2020-01-01')).toEqual([])
  const { said } = await operate(stack, 'events', 'list', '--type', 'payments.paid')
  expect(said).toContain(`payments.paid  ${paid!.wallet}  ${paid!.id}  taken`)
})

test.each([
  [['list', '--type', 'relay.credit.settled'], 'unknown event relay.credit.settled'],
  [['list', '--from', 'yesterday'], 'yesterday is not a time'],
  [['list', '--wallet', '0x1'], 'expected a wallet'],
  [['resend', 'x', '--reason', 'why'], 'x is neither a sequence of events list nor a webhook-id'],
  [['resend', '1'], '--reason is required'],
] as const)('ops events %j is wrong usage', async (words, fault) => {
  expect(await operate(stack, 'events', ...words)).toMatchObject({ code: 2, said: expect.stringContaining(fault) })
})

test('ops events resend sends an event under the same id each time, and records operator, reason and answer', async () => {
  const [paid] = await list('--type', 'payments.paid')
  const { sequence, id } = paid!
  const resend = (...more: string[]) =>
    operate(stack, 'events', 'resend', String(sequence), '--reason', 'lost there', '--by', 'sari', ...more)
  const times = () => got.filter((one) => one.id === id && one.isSigned).length
  expect(await resend()).toMatchObject({ code: 0, said: `payments.paid ${sequence} was taken by the integrator` })
  expect(times()).toBe(2)
  status = 500
  expect(await resend()).toMatchObject({
    code: 1,
    said: `refused: payments.paid ${sequence} was not taken: answered 500`,
  })
  status = 204
  expect(await resend()).toMatchObject({ code: 0 })
  expect(times()).toBe(4)
  const { said } = await operate(stack, 'commands', `EVENTS:${sequence}`)
  expect(said.split('\n')).toHaveLength(2)
  expect(said).toContain(
    `sari  events resend EVENTS:${sequence}  (lost there)  done: payments.paid ${sequence} was taken`,
  )
})

test('ops events list tells a refused event from those that were taken, also once it was taken by a resend', async () => {
  const { url: servers, admin: login } = stack.info.nats
  const admin = await connect({ servers, user: login.user, pass: login.password, inboxPrefix: '_INBOX_admin' })
  const publish = (msgID: string) =>
    admin.jetstream().publish('identity.decided', JSON.stringify({ wallet: person.wallet, verified: true }), { msgID })
  status = 503
  await publish('msg_refused')
  await waitUntil('the refusal', () => got.some(({ id }) => id === 'msg_refused'))
  status = 204
  await publish('msg_after')
  const progress = async () =>
    Object.fromEntries((await list('--type', 'identity.decided')).map((one) => [one.id, one.progress]))
  const found = await waitUntil('the refusal in the list', async () => {
    const shown = await progress()
    return shown.msg_after === 'taken' && shown.msg_refused !== 'taken' && shown
  })
  expect(found.msg_refused).toMatch(/^refused \(answered 503\), will retry at 20/)
  const resend = (id: string) => operate(stack, 'events', 'resend', id, '--reason', 'lost there', '--by', 'sari')
  expect(await resend('msg_refused')).toMatchObject({ code: 0, said: expect.stringContaining('was taken') })
  expect((await progress()).msg_refused).toBe('taken')
  expect(await resend('msg_unknown')).toMatchObject({
    code: 1,
    complaint: expect.stringContaining('no event msg_unknown is stored'),
  })
  await admin.close()
})

test('an event that happens while no gateway runs arrives once one is back', async () => {
  for (const copy of [1, 2]) await stack.process('gateway', copy).stop('SIGKILL')
  const before = got.length
  const { url: servers, admin: login } = stack.info.nats
  const admin = await connect({ servers, user: login.user, pass: login.password, inboxPrefix: '_INBOX_admin' })
  const payload = { wallet: person.wallet, verified: true, occurredAt: '2026-11-29T01:00:00.000Z' }
  await admin.jetstream().publish('identity.decided', JSON.stringify(payload), { msgID: 'while-away' })
  await admin.close()
  expect(got).toHaveLength(before)
  stack.process('gateway', 1).start()
  await waitUntil('the event', () => got.some(({ id }) => id === 'while-away'))
  expect(got.find(({ id }) => id === 'while-away')!.data).toEqual(payload as never)
})
