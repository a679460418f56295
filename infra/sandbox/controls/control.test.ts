import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openSandboxFixture, type SandboxFixture } from '#test/support/sandbox'

let fixture: SandboxFixture
beforeAll(async () => {
  fixture = await openSandboxFixture({ floatIdrMinor: 1_000_000n })
})
afterAll(() => fixture[Symbol.asyncDispose]())

const withdraw = (headers: Record<string, string>) =>
  fetch(`${fixture.url}/control/balance`, {
    method: 'POST',
    headers,
    body: '{"amount":1}',
    signal: AbortSignal.timeout(5_000),
  })
const balance = async () => (await fixture.get('ID', '/balance?account_type=CASH&currency=IDR')).json.balance

test.each(['https://evil.example', 'null', 'http://127.0.0.1:1'])(
  'security: a control is refused to a page of the origin %p, and changes nothing',
  async (origin) => {
    const answer = await withdraw({ origin, 'content-type': 'text/plain' })
    expect(answer.status).toBe(403)
    expect(await answer.json()).toEqual({ error: 'requests from other origins are not allowed' })
    expect(await balance()).toBe(1_000_000)
  },
)

test('a control accepts programs and pages of its own origin', async () => {
  expect((await withdraw({})).status).toBe(200)
  expect((await withdraw({ origin: fixture.url })).status).toBe(200)
})
