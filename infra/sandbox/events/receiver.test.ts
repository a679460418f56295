import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { openSandboxFixture, type SandboxFixture } from '#test/support/sandbox'

const key = Buffer.alloc(32, 5)
const secret = `whsec_${key.toString('base64')}`
let fixture: SandboxFixture
beforeAll(async () => {
  fixture = await openSandboxFixture({ eventsSecrets: [`whsec_${Buffer.alloc(32, 6).toString('base64')}`, secret] })
})
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(() => fixture.ask('/control/events', { method: 'DELETE' }))

const nowSeconds = () => Math.floor(Date.now() / 1_000)
async function send(id: string, { at = nowSeconds(), by = key, body = '{"type":"payments.paid"}' } = {}) {
  const signature = createHmac('sha256', by).update(`${id}.${at}.${body}`).digest('base64')
  const response = await fetch(`${fixture.url}/events`, {
    method: 'POST',
    headers: { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': `v1,eA== v1,${signature}` },
    body,
    redirect: 'manual',
    signal: AbortSignal.timeout(10_000),
  })
  return response
}
const received = async () => (await fixture.ask('/control/events')).json.received

test('the sandbox lists the events that it received, and marks repeats of those it took', async () => {
  expect((await send('a')).status).toBe(204)
  expect((await send('a')).status).toBe(204)
  expect(await received()).toMatchObject([
    { id: 'a', status: 204, repeat: false, event: { type: 'payments.paid' } },
    { id: 'a', status: 204, repeat: true },
  ])
})

test('security: the sandbox refuses an event that is signed by another secret, or is old', async () => {
  expect((await send('a', { by: Buffer.alloc(32, 7) })).status).toBe(401)
  expect((await send('a', { at: nowSeconds() - 301 })).status).toBe(401)
  expect((await fetch(`${fixture.url}/events`, { method: 'POST', body: '{}' })).status).toBe(401)
  expect((await received()).map(({ status }: { status: number }) => status)).toEqual([401, 401, 401])
})

test('the sandbox fails, delays or redirects as many calls as it is told to', async () => {
  await fixture.control('events', { status: 503, times: 2 })
  expect((await send('a')).status).toBe(503)
  expect((await send('a')).status).toBe(503)
  expect((await send('a')).status).toBe(204)
  expect((await received()).at(-1)).toMatchObject({ repeat: false })
  await fixture.control('events', { status: 307, location: '/elsewhere' })
  const redirect = await send('b')
  expect([redirect.status, redirect.headers.get('location')]).toEqual([307, '/elsewhere'])
  await fixture.control('events', { delayMs: 300 })
  const startedMs = performance.now()
  expect((await send('c')).status).toBe(204)
  expect(performance.now() - startedMs).toBeGreaterThan(290)
})

test.each([{ status: 99 }, { status: '500' }, { delayMs: -1 }, { times: 0 }, { location: 5 }])(
  'the sandbox refuses the answer %o and keeps the last one',
  async (wrong) => {
    await fixture.control('events', { status: 500 })
    expect((await fixture.control('events', wrong)).status).toBe(400)
    expect((await send('d')).status).toBe(500)
  },
)
