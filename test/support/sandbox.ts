import { patienceMs, waitUntil } from '#infra/local/wait'
import type { Account } from '#infra/sandbox/account'
import type { Config } from '#infra/sandbox/config'
import { openSandbox } from '#infra/sandbox/sandbox'

export { openSandbox }

export type Received = {
  readonly path: string
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read foreign JSON field by field
  readonly json: any
}

// biome-ignore lint/suspicious/noExplicitAny: tests read foreign JSON field by field
type Answer = { status: number; headers: Headers; json: any }

/** The sandbox with an HTTP server in place of the gateway. */
export type SandboxFixture = Awaited<ReturnType<typeof openSandboxFixture>>

export const testConfig: Config = {
  host: '127.0.0.1',
  port: 0,
  publicUrl: null,
  gatewayUrl: 'http://127.0.0.1:9',
  appUrl: 'http://127.0.0.1/app',
  referenceApp: null,
  bookPath: null,
  rpcUrl: null,
  secretKeys: { ID: 'key-id', MY: 'key-my' },
  callbackTokens: { ID: 'token-id', MY: 'token-my' },
  identity: {
    provider: 'sumsub',
    webhookSecret: 'webhook-secret',
    level: 'basic-kyc-level',
    appToken: 'app-token',
    secretKey: 'api-secret',
  },
  eventsSecrets: [],
  webhookRetryScale: 0.00001,
  payoutSettleMs: 40,
  feeBps: 0,
  floatIdrMinor: 1_000_000_000_000n,
}

/** Opens the sandbox. `answers` are the gateway's first statuses, after which come 200. */
export async function openSandboxFixture(overrides: Partial<Config> = {}) {
  const received: Received[] = []
  const answers: number[] = []
  const gateway = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const text = await request.text()
      const { pathname } = new URL(request.url)
      received.push({ path: pathname, headers: request.headers, text, json: JSON.parse(text) })
      return Response.json({ status: 'recorded' }, { status: answers.shift() ?? 200 })
    },
  })
  const gatewayUrl = `http://127.0.0.1:${gateway.port}`
  const sandbox = openSandbox({ ...testConfig, gatewayUrl, ...overrides })
  const ask = async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const signal = init.signal ?? AbortSignal.timeout(patienceMs)
    const reply = await fetch(`${sandbox.url}${path}`, { ...init, signal })
    return { status: reply.status, headers: reply.headers, json: await reply.json() }
  }
  const post = (path: string, body: unknown = {}, headers: Record<string, string> = {}) =>
    ask(path, { method: 'POST', body: JSON.stringify(body), headers })
  const key = (account: Account) => ({
    authorization: `Basic ${btoa(`key-${account.toLowerCase()}:`)}`,
  })
  return {
    url: sandbox.url,
    gatewayUrl,
    received,
    answers,
    ask,
    post,
    get: (account: Account, path: string) => ask(path, { headers: key(account) }),
    call: (account: Account, path: string, body?: unknown, headers?: Record<string, string>) =>
      post(path, body, { ...key(account), ...headers }),
    control: (path: string, body?: unknown) => post(`/control/${path}`, body),
    book: async () => (await ask('/control/book')).json,
    /** Returns the events of a name, once at least `count` have arrived. */
    events: (event: string, count = 1) =>
      waitUntil(
        `${count} ${event}`,
        () => {
          const seen = received.filter((r) => (r.json.event ?? r.json.type) === event)
          return seen.length >= count && seen
        },
        patienceMs,
        5,
      ),
    async [Symbol.asyncDispose]() {
      await sandbox[Symbol.asyncDispose]()
      await gateway.stop(true)
    },
  }
}

export const sessionBody = (change: Record<string, unknown> = {}) => ({
  reference_id: `order-${crypto.randomUUID()}`,
  session_type: 'PAY',
  mode: 'PAYMENT_LINK',
  currency: 'IDR',
  country: 'ID',
  amount: 150_000,
  success_return_url: 'https://shop.test/ok',
  cancel_return_url: 'https://shop.test/no',
  ...change,
})

export const payoutBody = (accountNumber = '1234567890', change: Record<string, unknown> = {}) => ({
  reference_id: `wd-${crypto.randomUUID()}`,
  channel_code: 'ID_BCA',
  channel_properties: { account_number: accountNumber, account_holder_name: 'Sari Dewi' },
  amount: 250_000,
  currency: 'IDR',
  description: 'wd 88',
  ...change,
})
