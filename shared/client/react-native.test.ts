import { expect, test } from 'bun:test'
import { loadOnPhone } from '#test/support/phone'

// The script that apps install runs where only the globals of React Native are. The whole suite does so in test/journeys/client.ci.test.ts.

const baseUrl = 'https://service.example'
const account = {
  address: '0xAb' as const,
  signMessage: async () => '0x5160' as const,
  signTypedData: async () => '0x5160' as const,
}

test('on a phone the client sends its requests', async () => {
  const asked: string[] = []
  const { client } = loadOnPhone({
    fetch: async (url, { method, signal }) => {
      expect(signal?.aborted).toBe(false)
      asked.push(`${method} ${url}`)
      return Response.json({ items: [] })
    },
  })
  const app = client.openClient({ baseUrl, account })
  expect(await app.quote('USD/IDR')).toHaveProperty('ok')
  await app.activity({ limit: 2, cursor: 'a/b c' })
  await app.statement()
  expect(asked).toEqual([
    'POST https://service.example/quote',
    'GET https://service.example/me/activity?limit=2&cursor=a%2Fb%20c',
    'GET https://service.example/me/statement',
  ])
})

test('on a phone an attempt without a response ends at its deadline', async () => {
  let ended = 0
  const { client } = loadOnPhone({
    speed: 1_000,
    fetch: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal!.addEventListener('abort', () => {
          ended += 1
          reject(new Error('aborted'))
        })
      }),
  })
  const asking = client.openVisitor({ baseUrl, patienceMs: 0 }).config()
  await expect(asking).rejects.toThrow('no response to GET /config after 1 attempt')
  expect(ended).toBe(1)
})

test('on a phone a wait ends when its caller leaves', async () => {
  const { client, AbortController } = loadOnPhone({ fetch: async () => Response.json({}) })
  const left = new AbortController()
  const app = client.openClient({ baseUrl, account })
  const isSo = () => {
    left.abort()
    return false
  }
  await expect(app.waitUntil(isSo, { everyMs: 60_000, signal: left.signal })).rejects.toThrow('the wait was aborted')
})

test('on a phone, whose responses are no streams, the client asks its caller to read at intervals until it leaves', async () => {
  const asked: string[] = []
  const { client, AbortController } = loadOnPhone({
    fetch: async (url) => {
      asked.push(url)
      return Response.json({})
    },
  })
  const left = new AbortController()
  let calls = 0
  const onChange = () => {
    calls += 1
    if (calls === 3) left.abort()
  }
  await client.openClient({ baseUrl, account }).watch(onChange, { everyMs: 1, signal: left.signal })
  expect([calls, asked]).toEqual([3, []])
})

test('on a phone the session in the keychain saves the next start a signature', async () => {
  let kept: string | null = null
  let signed = 0
  const session = {
    load: async () => kept,
    save: async (header: string | null) => {
      kept = header
    },
  }
  const signer = {
    ...account,
    signMessage: async () => {
      signed += 1
      return '0x5160' as const
    },
  }
  for (const _start of [1, 2]) {
    const { client } = loadOnPhone({ fetch: async () => Response.json({ wallet: account.address }) })
    const app = client.openClient({ baseUrl, account: signer, session })
    expect(await app.me()).toEqual({ ok: { wallet: account.address } } as never)
  }
  expect(signed).toBe(1)
})
