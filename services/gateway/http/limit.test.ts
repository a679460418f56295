import { describe, expect, test } from 'bun:test'
import { config, errorOf, fixtureOf } from '../test-support/fixture'

const readOnce = { ...config, rateLimitPublicPerMinute: 1, rateLimitSignInsPerMinute: 1 }

describe('every request is limited per address', () => {
  test.each([
    ['GET', '/'],
    ['GET', '/openapi.json'],
    ['GET', '/docs'],
    ['GET', '/docs/start.js'],
    ['GET', '/docs/swagger-ui-bundle.js'],
    ['GET', '/docs/swagger-ui.css'],
    ['GET', '/docs/nothing'],
    ['GET', '/docs/guide'],
    ['GET', '/docs/guide.md'],
    ['GET', '/docs/guide/top-up'],
    ['GET', '/docs/client.tgz'],
    ['GET', '/llms.txt'],
    ['GET', '/health'],
    ['GET', '/ready'],
    ['GET', '/config'],
    ['GET', '/verify/x'],
    ['GET', '/nowhere'],
    ['DELETE', '/me'],
    ['OPTIONS', '/me'],
    ['POST', '/quote'],
    ['GET', '/me'],
  ])('%s %s: the second one gets a 429', async (method, path) => {
    const fixture = await fixtureOf({}, { config: readOnce })
    const headers = { 'access-control-request-method': 'GET' }
    const call = (from: string) => fixture.call(method, path, { headers, from })
    expect((await call('203.0.113.7')).status).not.toBe(429)
    const second = await call('203.0.113.7')
    expect([second.status, second.headers.get('retry-after')]).toEqual([429, '60'])
    expect(await errorOf(second)).toBe('too many requests, slow down')
    expect((await call('203.0.113.8')).status).not.toBe(429)
  })
})
