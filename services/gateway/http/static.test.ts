import { describe, expect, test } from 'bun:test'
import { gunzipSync } from 'bun'
import { fixtureOf } from '../test-support/fixture'
import { openStatic } from './static'

const fixture = await fixtureOf()
const get = (path: string, headers: Record<string, string> = {}) => fixture.call('GET', path, { headers })

describe.each(['/openapi.json', '/docs', '/docs/swagger-ui-bundle.js', '/docs/guide', '/llms.txt'])(
  'GET %s',
  (path) => {
    test('is compressed for callers that accept gzip, and the same for others', async () => {
      const plain = await get(path)
      const text = await plain.text()
      expect([plain.headers.get('content-encoding'), plain.headers.get('vary')]).toEqual([
        null,
        'Origin, Accept-Encoding',
      ])
      const packed = await get(path, { 'accept-encoding': 'br;q=1.0, gzip;q=0.8' })
      expect(packed.headers.get('content-encoding')).toBe('gzip')
      const bytes = await packed.bytes()
      expect(bytes.byteLength).toBeLessThan(text.length * 0.7)
      expect(new TextDecoder().decode(gunzipSync(bytes))).toBe(text)
    })
    test.each(['identity', 'gzip;q=0', 'gzip; q=0.0', 'br', 'gzip;q=x', 'gzipped', ''])(
      'is not compressed for Accept-Encoding: %s',
      async (accepted) => {
        const answer = await get(path, { 'accept-encoding': accepted })
        expect(answer.headers.get('content-encoding')).toBeNull()
      },
    )
    test.each(['GZIP', 'br, gzip', 'x-gzip', 'gzip ; Q=0.001', 'gzip;q=1.000'])(
      'is compressed for Accept-Encoding: %s',
      async (accepted) => {
        const answer = await get(path, { 'accept-encoding': accepted })
        expect(answer.headers.get('content-encoding')).toBe('gzip')
      },
    )
    // A quadratic parser would take an hour.
    test('security: reads an Accept-Encoding header in linear time', async () => {
      const weight = `gzip;q=0.${'1'.repeat(500_000)}`
      for (const accepted of [weight, `${weight}x`, `gzip${' '.repeat(500_000)}x`])
        expect((await get(path, { 'accept-encoding': accepted })).status).toBe(200)
    })
    test('returns 304 without a body while the caller has the current one', async () => {
      const etag = (await get(path)).headers.get('etag')!
      for (const accepted of ['gzip', 'identity']) {
        const headers = { 'if-none-match': etag, 'accept-encoding': accepted }
        const again = await get(path, headers)
        expect([again.status, await again.text()]).toEqual([304, ''])
      }
    })
  },
)

test('a large response closes its connection, and a small one keeps it', async () => {
  const connectionOf = async (path: string) => (await get(path)).headers.get('connection')
  expect(await connectionOf('/docs/swagger-ui-bundle.js')).toBe('close')
  expect(await connectionOf('/docs')).toBeNull()
})

test('content is read once, however many callers request it at the same moment', async () => {
  let reads = 0
  const read = async () => `read ${++reads} times`
  const serve = openStatic({ type: 'text/plain', read })
  const request = new Request('http://gateway.internal/')
  const answers = await Promise.all(Array.from({ length: 20 }, () => serve({ request, set: { headers: {} } })))
  const texts = await Promise.all(answers.map((answer) => answer!.text()))
  expect(new Set(texts)).toEqual(new Set(['read 1 times']))
})

test('content whose read failed is read again for the next caller', async () => {
  let reads = 0
  const read = async () => {
    if (++reads === 1) throw new Error('EMFILE: too many open files')
    return 'the content'
  }
  const serve = openStatic({ type: 'text/plain', read })
  const exchange = () => ({
    request: new Request('http://gateway.internal/'),
    set: { headers: {} },
  })
  await expect(serve(exchange())).rejects.toThrow('EMFILE')
  expect(await (await serve(exchange()))?.text()).toBe('the content')
})
