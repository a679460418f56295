import { describe, expect, test } from 'bun:test'
import { tokenMatcher } from '#shared/api/console-token'
import { checkOrigin, tokenIn } from './origin-check'

const request = (headers: Record<string, string>, path = '/console/overview', method = 'GET') =>
  new Request(`http://127.0.0.1:3001${path}`, { method, headers })

describe('the Host check of the console', () => {
  test.each([
    ['127.0.0.1:3001', undefined],
    ['127.0.0.1', undefined],
    ['10.2.0.7:3001', undefined],
    ['[::1]:3001', undefined],
    ['localhost:9000', undefined],
    ['LOCALHOST:9000', undefined],
    ['ops.example:3001', undefined],
    ['evil.example:3001', 'host'],
    ['127.0.0.1.evil.example', 'host'],
    ['localhost.evil.example:3001', 'host'],
    ['127.0.0.1@evil.example', 'host'],
    ['evil', 'host'],
    ['localhost.', 'host'],
    ['', 'host'],
  ] as const)('security: for host %p finds the fault %p', (host, strange) => {
    expect(checkOrigin(request({ host }), ['ops.example'])).toBe(strange)
  })

  test('security: also applies to a request without a Host header', () => {
    expect(checkOrigin(request({}), [])).toBe('host')
  })
})

describe('the origin check of the console', () => {
  test.each([
    ['http://127.0.0.1:3001', undefined],
    ['https://127.0.0.1:3001', undefined],
    ['http://127.0.0.1:3100', 'origin'],
    ['http://localhost:3001', 'origin'],
    ['https://evil.example', 'origin'],
    ['null', 'origin'],
    ['', 'origin'],
  ] as const)('security: for origin %p finds the fault %p', (origin, strange) => {
    expect(checkOrigin(request({ host: '127.0.0.1:3001', origin }), [])).toBe(strange)
  })

  test.each([
    ['same-origin', undefined],
    ['none', undefined],
    ['same-site', 'site'],
    ['cross-site', 'site'],
  ] as const)('security: for fetch site %p finds the fault %p', (site, strange) => {
    const headers = { host: '127.0.0.1:3001', 'sec-fetch-site': site }
    expect(checkOrigin(request(headers), [])).toBe(strange)
  })

  const visit = {
    host: '127.0.0.1:3001',
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
  }
  test('lets another site link to the console page only', () => {
    expect(checkOrigin(request(visit, '/'), [])).toBeUndefined()
    expect(checkOrigin(request(visit, '/metrics'), [])).toBe('site')
    expect(checkOrigin(request(visit, '/', 'POST'), [])).toBe('site')
    expect(checkOrigin(request({ ...visit, 'sec-fetch-dest': 'iframe' }, '/'), [])).toBe('site')
  })
})

describe('the console token', () => {
  const isToken = tokenMatcher('right-token')
  const carries = (asked: Request) => isToken(tokenIn(asked))
  test.each([
    [{ authorization: 'Bearer right-token' }, true],
    [{ authorization: 'Bearer right-toke' }, false],
    [{ authorization: 'right-token' }, false],
    [{ authorization: 'Bearer ' }, false],
    [{}, false],
  ])('security: headers %p are accepted: %p', (headers, passes) => {
    expect(carries(request(headers as Record<string, string>))).toBe(passes)
  })

  test('security: is ignored in a URL', () => {
    expect(carries(request({}, '/console/overview?token=right-token'))).toBe(false)
  })
})
