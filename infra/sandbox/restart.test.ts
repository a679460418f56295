import { afterAll, beforeAll, expect, test } from 'bun:test'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitUntil } from '#infra/local/wait'
import { openSandboxFixture, payoutBody, type SandboxFixture, sessionBody } from '#test/support/sandbox'

const folder = mkdtempSync(join(tmpdir(), 'sandbox-'))
const bookPath = join(folder, 'book.jsonl')
let fixture: SandboxFixture
beforeAll(async () => {
  fixture = await openSandboxFixture()
})
afterAll(async () => {
  await fixture[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

const env = {
  PATH: process.env.PATH ?? '',
  APP_URL: 'http://127.0.0.1/app',
  PROVIDER_ID_SECRET_KEY: 'key-id',
  PROVIDER_MY_SECRET_KEY: 'key-my',
  PAYMENTS_CALLBACK_TOKEN_ID: 'a',
  PAYMENTS_CALLBACK_TOKEN_MY: 'b',
  IDENTITY_WEBHOOK_SECRET: 'c',
  IDENTITY_APP_TOKEN: 'd',
  IDENTITY_SECRET_KEY: 'e',
  PORT: '0',
  SANDBOX_BOOK: bookPath,
  PAYOUT_SETTLE_MS: '600',
  WEBHOOK_RETRY_SCALE: '0.0001',
}

async function boot(gatewayUrl: string) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'main.ts')], {
    env: { ...env, GATEWAY_URL: gatewayUrl },
    stdout: 'pipe',
  })
  let output = ''
  const decoder = new TextDecoder()
  for await (const chunk of child.stdout) {
    output += decoder.decode(chunk, { stream: true })
    if (output.includes('sandbox listening')) break
  }
  const url = /"url":"([^"]+)"/.exec(output)?.[1] ?? ''
  const kill = async () => {
    child.kill('SIGKILL')
    await child.exited
  }
  const headers = { authorization: `Basic ${btoa('key-id:')}`, 'idempotency-key': 'one' }
  const post = async (path: string, body: unknown) =>
    (await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })).json()
  const get = async (path: string) => (await fetch(url + path, { headers })).json()
  const book = () => get('/control/book')
  return { url, kill, post, get, book }
}

test('a killed sandbox keeps everything, finishes pending work and leaves a refund that stays pending', async () => {
  const body = payoutBody()
  const first = await boot('http://127.0.0.1:9')
  await first.post('/control/fees', { bps: 150 })
  const session = await first.post('/sessions', sessionBody({ amount: 60_000 }))
  await first.post(`/control/sessions/${session.payment_session_id}/pay`, {})
  const { payments } = await first.book()
  await first.post(`/control/payments/${payments[0].payment_id}/chargeback`, { amount: 20_000 })
  const pending = { amount: 1_000, status: 'PENDING' }
  await first.post(`/control/payments/${payments[0].payment_id}/refund`, pending)
  const list = '/transactions?types=PAYMENT&types=CHARGEBACK'
  const listed = await first.get(list)
  const payout = await first.post('/v2/payouts', body)
  const before = await first.book()
  await first.kill()
  appendFileSync(bookPath, '{"kind":"payouts","record":{"id":"disb-')

  const second = await boot(fixture.gatewayUrl)
  try {
    const after = await second.book()
    expect(after.payments).toEqual(before.payments)
    expect(after.chargebacks).toEqual(before.chargebacks)
    expect(listed.data).toHaveLength(2)
    expect(await second.get(list)).toEqual(listed)
    expect(after.sessions[0]).toMatchObject({ status: 'COMPLETED', amount: 60_000 })
    expect((await second.post('/v2/payouts', body)).id).toBe(payout.id)
    const own = await waitUntil('the payout and every webhook', async () => {
      const { payouts, webhooks } = await second.book()
      const done = webhooks.every((w: { state: string }) => w.state === 'delivered')
      return payouts[0].status === 'SUCCEEDED' && webhooks.length === 3 && done && payouts
    })
    expect(own).toHaveLength(1)
    expect((await second.book()).refunds).toEqual(before.refunds)
  } finally {
    await second.kill()
  }
})
