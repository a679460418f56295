import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { freePort } from '#test/support/engines/free-ports'
import { waitUntil } from '#test/support/wait'
import { call } from './call'

const key = Buffer.alloc(32, 3)
let url: string
let said = ''
let child: Bun.Subprocess<'ignore', 'pipe', 'inherit'>
beforeAll(async () => {
  const port = await freePort()
  url = `http://127.0.0.1:${port}/events`
  child = Bun.spawn([process.execPath, join(import.meta.dir, '../guide/examples/receiver.ts')], {
    env: { PATH: process.env.PATH ?? '', PORT: String(port), EVENTS_SECRET: `whsec_${key.toString('base64')}` },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  void (async () => {
    for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) said += part
  })()
  await waitUntil('the receiver', async () => (await fetch(url, { method: 'POST' })).status === 401)
})
afterAll(async () => {
  child.kill()
  await child.exited
})

const eventOf = (messageId: string) => ({
  subject: 'payments.paid',
  seq: 1,
  messageId,
  storedAt: new Date(),
  payload: '{"wallet":"0xé"}',
})

test("the guide's receiver takes a signed event, handles a repeat once, and refuses what another secret signed", async () => {
  const other = Buffer.alloc(32, 4)
  expect(await call({ url, keys: [key], clock: Date.now }, eventOf('a'))).toEqual({ taken: true })
  expect(await call({ url, keys: [key], clock: Date.now }, eventOf('a'))).toEqual({ taken: true })
  expect(await call({ url, keys: [other], clock: Date.now }, eventOf('b'))).toEqual({
    taken: false,
    why: 'answered 401',
  })
  expect(await call({ url, keys: [other, key], clock: Date.now }, eventOf('c'))).toEqual({ taken: true })
  await waitUntil('both lines', () => said.split('\n').length === 3)
  expect(said).toBe('a payments.paid 0xé\nc payments.paid 0xé\n')
})

test("security: the guide's receiver refuses a replay, a changed body and a changed id", async () => {
  const send = (id: string, at: number, body: string, signed: string) => {
    const signature = createHmac('sha256', key).update(signed).digest('base64')
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(at),
      'webhook-signature': `v1,${signature}`,
    }
    return fetch(url, { method: 'POST', headers, body }).then(({ status }) => status)
  }
  const now = Math.floor(Date.now() / 1_000)
  const body = '{"type":"x","data":{}}'
  expect(await send('d', now, body, `d.${now}.${body}`)).toBe(204)
  expect(await send('e', now - 301, body, `e.${now - 301}.${body}`)).toBe(401)
  expect(await send('e', now + 310, body, `e.${now + 310}.${body}`)).toBe(401)
  expect(await send('e', now, body, `d.${now}.${body}`)).toBe(401)
  expect(await send('d', now, `${body} `, `d.${now}.${body}`)).toBe(401)
  expect(await send('d', Number.NaN, body, `d.NaN.${body}`)).toBe(401)
})
