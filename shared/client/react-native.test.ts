import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openClient } from '#shared/client/client'
import { waitForMe } from '#shared/client/waiting'

// React Native 0.86 has no AbortSignal.timeout and no throwIfAborted (abort-controller 3.0.0), and its URLSearchParams takes no list.

const { timeout } = AbortSignal
const { throwIfAborted } = AbortSignal.prototype
const { URLSearchParams } = globalThis
beforeAll(() => {
  Object.assign(AbortSignal, { timeout: undefined })
  Object.assign(AbortSignal.prototype, { throwIfAborted: undefined })
  Object.assign(globalThis, { URLSearchParams: undefined })
})
afterAll(() => {
  Object.assign(AbortSignal, { timeout })
  Object.assign(AbortSignal.prototype, { throwIfAborted })
  Object.assign(globalThis, { URLSearchParams })
})

test('the client sends its requests with the globals of React Native', async () => {
  const asked: string[] = []
  const account = {
    address: '0xAb' as const,
    signMessage: async () => '0x5160' as const,
    signTypedData: async () => '0x5160' as const,
  }
  const client = openClient({
    baseUrl: 'https://service.example',
    account,
    fetch: async (url, { method, signal }) => {
      expect(signal?.aborted).toBe(false)
      asked.push(`${method} ${url}`)
      return Response.json({ items: [] })
    },
  })
  expect(await client.quote('USD/IDR')).toHaveProperty('ok')
  await client.activity({ limit: 2, cursor: 'a/b c' })
  await client.statement()
  expect(asked).toEqual([
    'POST https://service.example/quote',
    'GET https://service.example/me/activity?limit=2&cursor=a%2Fb%20c',
    'GET https://service.example/me/statement',
  ])
})

test('a wait ends when its signal fires, with the globals of React Native', async () => {
  const stop = new AbortController()
  const waiting = waitForMe(
    async () => {
      stop.abort(new Error('the user left'))
      return {} as never
    },
    () => false,
    { everyMs: 60_000, signal: stop.signal },
  )
  await expect(waiting).rejects.toThrow('the user left')
})
