import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Unavailable } from '#platform/bus/ask'
import { openLog } from '#platform/log'
import { listen } from '../listen'
import { askOf, okay, type Replies } from '../test-support/fixture'
import { openConsole } from './console'
import type { PageFeed } from './feed'

const token = 'token-of-this-start-0001'
const bearer = { authorization: `Bearer ${token}` }
const log = openLog('suite', 'silent')
const leaving = new AbortController()
const operators = async () => Response.json({ status: 'alive' })
const deaf: PageFeed = {
  watch: (_, push) => {
    push('deaf', { reason: 'no operations here' })
    return () => {}
  },
}
const partsOf = (over: { token?: string; replies?: Replies } = {}) => ({
  token,
  hosts: [],
  feed: deaf,
  log,
  leaving: leaving.signal,
  ...askOf(over.replies ?? {}),
  ...over,
})
const localhost = { ...bearer, host: '127.0.0.1' }
const call = (parts: ReturnType<typeof partsOf>, path: string) =>
  openConsole(parts, operators)(new Request(`${base}${path}`, { headers: localhost }), '127.0.0.1')

let server: ReturnType<typeof listen>
let base: string
beforeAll(() => {
  server = listen(openConsole(partsOf(), operators), { host: '127.0.0.1', port: 0 })
  base = `http://127.0.0.1:${server.port}`
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

describe('the console page', () => {
  test('is served with all its assets without a token, from this origin only', async () => {
    const seen = new Set<string>()
    const load = async (path: string): Promise<void> => {
      if (seen.has(path)) return
      seen.add(path)
      const answer = await fetch(`${base}${path}`)
      expect([path, answer.status]).toEqual([path, 200])
      const text = await answer.text()
      const loaded = text.matchAll(/(?:src="|href="|from ')(\/console\/[\w.-]+)/g)
      for (const [, next] of loaded) await load(next!)
      expect(text.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:\/\//)
    }
    await load('/')
    expect([...seen]).toContain('/console/main.js')
    expect([...seen]).toContain('/console/style.css')
    expect(seen.size).toBeGreaterThan(8)
  })

  test('security: has no inline scripts and loads nothing from another origin', async () => {
    const answer = await fetch(`${base}/`)
    const policy = answer.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toContain('unsafe')
    expect(policy).toContain("frame-ancestors 'none'")
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
    expect(await answer.text()).not.toMatch(/<script>|<style>|\son\w+=|style="/)
  })

  test.each(['/console/../console.ts', '/console/%2e%2e/console.ts', '/console/', '/console/x.js'])(
    'security: %s is not served as a console asset',
    async (path) => {
      expect(await (await fetch(`${base}${path}`)).text()).toBe('{"status":"alive"}')
    },
  )

  test.each([
    'GET /console/sandbox.js',
    'GET /console/actions',
    'POST /console/actions/kill',
    'GET /console/items/%E0%A4%A',
  ])('security: %s is 404 without a sandbox or a known id', async (route) => {
    const [method = '', path = ''] = route.split(' ')
    const answer = await fetch(`${base}${path}`, { method, headers: bearer })
    expect(await answer.text()).toBe('{"status":"alive"}')
  })
})

const shown = ['GET /console/live', 'GET /console/about', 'GET /console/attention', 'GET /console/items/pay_1']

describe('console data', () => {
  test.each(shown)('security: %s requires the token in a header', async (route) => {
    const [method = '', path = ''] = route.split(' ')
    const status = async (url: string, headers: Record<string, string>) => {
      const answer = await fetch(`${base}${url}`, { method, headers })
      await answer.body?.cancel()
      return answer.status
    }
    expect(await status(path, {})).toBe(401)
    expect(await status(`${path}?token=${token}`, {})).toBe(401)
    expect(await status(path, { authorization: 'Bearer wrong' })).toBe(401)
    expect(await status(path, { ...bearer, origin: 'https://evil.example' })).toBe(403)
    expect(await status(path, { ...bearer, host: `evil.example:${server.port}` })).toBe(403)
    expect([200, 503]).toContain(await status(path, bearer))
  })

  test('security: is refused to every request while no token is configured', async () => {
    const closed = openConsole(partsOf({ token: '' }), operators)
    const headers = { host: '127.0.0.1:3001', authorization: 'Bearer ' }
    const answer = await closed(new Request(`${base}/console/live`, { headers }), '127.0.0.1')
    expect(answer.status).toBe(403)
    expect(await answer.text()).toContain('CONSOLE_TOKEN')
  })

  test('security: metrics are refused to a request with a foreign Host header', async () => {
    const headers = { host: `evil.example:${server.port}` }
    expect((await fetch(`${base}/metrics`, { headers })).status).toBe(403)
    expect((await fetch(`${base}/metrics`)).status).toBe(200)
  })
})

describe('the console passes questions on to operations', () => {
  const item = 'operations.console.item'

  test('the console asks operations with the token of the page, and returns the answer', async () => {
    const parts = partsOf({ replies: { [item]: okay({ shown: { id: 'pay_1' } }) } })
    const answer = await call(parts, '/console/items/pay_1')
    expect([answer.status, await answer.json()]).toEqual([200, { id: 'pay_1' }])
    expect(parts.asked).toEqual([[item, { token, id: 'pay_1' }]])
  })

  test.each([
    ['has another token', okay({ fault: 'token' }), 401, 'has another console token'],
    ['cannot read the rows', okay({ fault: 'unreadable' }), 503, 'database cannot be read'],
    ['does not respond', undefined, 503, 'does not respond'],
  ])('the console reports that operations %s', async (_, reply, status, words) => {
    const parts = partsOf({ replies: reply ? { [item]: reply } : {} })
    const answer = await call(parts, '/console/items/pay_1')
    expect(answer.status).toBe(status)
    expect(await answer.text()).toContain(words)
  })

  test('the console reports a failure of the bus like a silent process', async () => {
    const broken = () => Promise.reject(new Unavailable('NATS is not responding'))
    const answer = await call(partsOf({ replies: { [item]: broken } }), '/console/items/pay_1')
    expect(answer.status).toBe(503)
  })
})

describe('the live connection of the console', () => {
  test('a live connection reports that it is not live, and ends when its instance drains', async () => {
    const gone = new AbortController()
    const answer = await call({ ...partsOf(), leaving: gone.signal }, '/console/live')
    const whole = answer.text()
    gone.abort()
    expect(await whole).toContain('event: deaf')
  })
})
