import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import pino from 'pino'
import { listen } from '../listen'
import { openConsole } from './console'
import { openOverview, type Seen } from './overview'

const token = 'token-of-this-start-0001'
const bearer = { authorization: `Bearer ${token}` }
const log = pino({ level: 'silent' })
/** Counts how often the services are asked. */
function overviewOf(answering: readonly string[] = ['pricing']) {
  const count = { asked: 0 }
  const unseen = () => Promise.reject(new Error('no rows here'))
  const overview = openOverview({
    ...{ clock: Date.now, log, ownFigures: async () => ({}), queues: async () => [] },
    readiness: async () => ({ missing: [], down: [] }),
    ...{ metrics: async () => '', standing: unseen },
    gatherStats: async () => {
      count.asked += 1
      return answering.map((name) => ({ name, id: name, endpoints: [] }))
    },
  })
  return { overview, count }
}
const { overview } = overviewOf()
const leaving = new AbortController()
const operators = async () => Response.json({ status: 'alive' })
const partsOf = (over: { token?: string } = {}) => ({
  ...{ token, hosts: [], live: { silent: 'no bus here' }, overview },
  ...{ items: { silent: 'no rows here' }, log, leaving: leaving.signal },
  ...over,
})

let server: ReturnType<typeof listen>
let base: string
beforeAll(() => {
  server = listen(openConsole(partsOf(), operators), { host: '127.0.0.1', port: 0 })
  base = `http://127.0.0.1:${server.port}`
})
afterAll(async () => {
  await overview[Symbol.asyncDispose]()
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
    'GET /console/deeds',
    'POST /console/deeds/kill',
    'GET /console/items/%E0%A4%A',
  ])('security: %s is 404 without a sandbox or a known id', async (route) => {
    const [method = '', path = ''] = route.split(' ')
    const answer = await fetch(`${base}${path}`, { method, headers: bearer })
    expect(await answer.text()).toBe('{"status":"alive"}')
  })
})

const shown = [
  ...['GET /console/live', 'GET /console/about', 'GET /console/attention'],
  'GET /console/items/pay_1',
]

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

/** Reads server-sent events until one of this name comes. */
async function until(answer: Response, name: string): Promise<string> {
  const decoder = new TextDecoder()
  let heard = ''
  for await (const chunk of answer.body!) {
    heard += decoder.decode(chunk, { stream: true })
    const [found] = heard.match(new RegExp(`event: ${name}\\ndata: .*\\n\\n`)) ?? []
    if (found) return found
  }
  throw new Error(`no ${name} in ${heard}`)
}

describe('the live connection of the console', () => {
  test('reports the lost bus connection together with the current overview', async () => {
    const open = () => fetch(`${base}/console/live`, { headers: bearer })
    expect(await until(await open(), 'deaf')).toContain('no bus here')
    expect(await until(await open(), 'overview')).toContain('payments does not answer')
  })

  test('blames the bus, not the services, when no service answers', async () => {
    const { overview: own } = overviewOf([])
    const seen = await new Promise<Seen>((resolve) => {
      own.watch(resolve)
    })
    await own[Symbol.asyncDispose]()
    expect(seen.needs).toEqual([{ says: 'nats does not answer' }])
    expect(new Set(seen.services.map(({ copies }) => copies))).toEqual(new Set([null]))
    expect(seen.unseen).toContain('pauses, unexplained AUSD, provider lists: no rows here')
  })

  test('ends when its instance drains', async () => {
    const gone = new AbortController()
    const own = openConsole({ ...partsOf(), leaving: gone.signal }, operators)
    const headers = { ...bearer, host: '127.0.0.1' }
    const answer = await own(new Request(`${base}/console/live`, { headers }), '127.0.0.1')
    const whole = answer.text()
    gone.abort()
    expect(await whole).toContain('event: deaf')
  })

  test('reads the services once for all viewers, and never without a viewer', async () => {
    const { overview: own, count: seen } = overviewOf()
    expect(seen.asked).toBe(0)
    const ends: (() => void)[] = []
    const told = () =>
      new Promise<void>((resolve) => {
        ends.push(own.watch(() => resolve()))
      })
    await Promise.all([told(), told(), told()])
    for (const end of ends) end()
    await told() // A viewer that opens right away gets the cached reading.
    expect(seen.asked).toBe(1)
    await own[Symbol.asyncDispose]()
  })
})
