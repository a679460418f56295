import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { NatsError } from 'nats'
import { Faulted, Unavailable } from '#platform/bus/ask'
import { DeadlinePassed } from '#platform/deadline'
import { refusals } from '#shared/declared-refusals'
import { textIn } from '#shared/language/catalogue'
import { fields } from '../config'
import { nowMs } from '../test-support/wallets'
import { addressOf, proxiesOf, requestIdFrom } from './caller'
import { etagOf, noneMatch } from './etag'
import { failureOf, Refused, refusedAs } from './failure'
import { corsOf } from './headers'
import { openLimiter } from './limit'

describe('the gateway answers a failure with', () => {
  const dayOver = (code: 'gas_budget_spent' | 'day_limit_reached' | 'cashouts_refused_too_many') =>
    [refusedAs(code), 429, refusals[code].text.en, 10 * 3_600] as const
  const broken = Object.assign(new Error('down'), { code: 'ECONNREFUSED' })
  const wrapped = new Error('Failed query: select secret', { cause: broken })
  test.each([
    [
      'the status and message of a refusal',
      new Refused(400, [{ code: 'format_unknown' }]),
      400,
      'format must be json or csv',
      undefined,
    ],
    ['a refusal of the table', refusedAs('not_verified'), 403, 'verify your identity first', undefined],
    [
      '503 for a dependency of the table',
      refusedAs('chain_unavailable'),
      503,
      'The network is unavailable. Try again.',
      2,
    ],
    ['429 until the day is over', ...dayOver('gas_budget_spent')],
    ['429 until the day is over', ...dayOver('day_limit_reached')],
    ['429 until the day is over', ...dayOver('cashouts_refused_too_many')],
    ['503 when no service responds', new Unavailable('x'), 503, 'the service is busy, try again', 2],
    ['503 when the answer is late', new DeadlinePassed('x', 1), 503, 'the service is busy, try again', 2],
    ['503 when a service failed', new Faulted('x'), 503, 'the service is busy, try again', 2],
    ['503 when the bus is gone', new NatsError('x', 'CONNECTION_CLOSED'), 503, 'the service is busy, try again', 2],
    ['503 when the database is gone', wrapped, 503, 'the service is busy, try again', 2],
    ...['25006', '58030'].map(
      (code) =>
        [
          `503 when the database cannot write (${code})`,
          Object.assign(new Error('x'), { code }),
          503,
          'the service is busy, try again',
          2,
        ] as const,
    ),
    ['500 when it is a bug', new TypeError('undefined is not'), 500, 'something went wrong', undefined],
    ['500 when it is no error at all', 'text', 500, 'something went wrong', undefined],
    ['500 for a constraint', Object.assign(new Error('x'), { code: '23505' }), 500, 'something went wrong', undefined],
  ])('%s', (_, error, status, message, retryAfterSeconds) => {
    const failure = failureOf(error, nowMs)
    expect([failure.status, textIn('en', failure.texts), failure.retryAfterSeconds]).toEqual([
      status,
      message,
      retryAfterSeconds,
    ])
  })
})

describe('the address that limits count by', () => {
  test.each([
    ['is the socket', '198.51.100.1', null, '198.51.100.1'],
    ['security: ignores a forwarded address from a direct caller', '198.51.100.1', '1.2.3.4', '198.51.100.1'],
    ['is the address seen by the only trusted proxy', '10.0.0.1', '1.2.3.4, 203.0.113.9', '203.0.113.9'],
    ['is the address seen by the outer of two proxies', '10.0.0.1', '6.6.6.6, 203.0.113.9, 10.0.0.2', '203.0.113.9'],
    ['security: ignores the proxy address that a caller forges', '10.0.0.1', '10.0.0.2, 6.6.6.6', '6.6.6.6'],
    ['is the proxy for its own requests', '10.0.0.1', '10.0.0.2', '10.0.0.2'],
    ['is the proxy if it forwards no header', '10.0.0.1', null, '10.0.0.1'],
    ['is the proxy if its header has no address', '10.0.0.1', '203.0.113.9, who', '10.0.0.1'],
    ['is the address seen by an IPv6 proxy', 'fd00::1', '203.0.113.9', '203.0.113.9'],
    ['is the address seen by an IPv4-mapped proxy', '::ffff:10.0.0.1', '1.2.3.4', '1.2.3.4'],
    ['security: ignores the header of an untrusted neighbour', '10.0.1.1', '1.2.3.4', '10.0.1.1'],
    ['is IPv4 also when mapped', '::ffff:198.51.100.1', null, '198.51.100.1'],
    ['is IPv4 also when mapped in hex', '::ffff:c633:6401', null, '198.51.100.1'],
    ['is IPv4 also when mapped in full', '0:0:0:0:0:FFFF:c633:6401', null, '198.51.100.1'],
    ['is IPv4 also when a proxy maps it in hex', '10.0.0.1', '::ffff:c633:6401', '198.51.100.1'],
    ['is the address seen by a proxy mapped in hex', '::ffff:a00:1', '1.2.3.4', '1.2.3.4'],
    ['is the /64 of IPv6 with a zone', 'fe80::1%eth0', null, 'fe80:0:0:0::/64'],
    ['is unknown without a socket', 'unknown', null, 'unknown'],
    ['is the /64 of IPv6', '2001:db8:1:2:3:4:5:6', null, '2001:db8:1:2::/64'],
    ['is the /64 of compressed IPv6', '2001:db8:1::5', null, '2001:db8:1:0::/64'],
    ['is the /64 of IPv6 that contains IPv4', '2001:db8::1.2.3.4', null, '2001:db8:0:0::/64'],
    ['is IPv4 also when a network without IPv4 translates it', '64:ff9b::1.2.3.4', null, '1.2.3.4'],
    ['is IPv4 also when it was translated before a proxy', '10.0.0.1', '64:ff9b::c633:6401', '198.51.100.1'],
    ['security: is a translated address, also of a proxy', '64:ff9b::10.0.0.1', '1.2.3.4', '10.0.0.1'],
    ['is the address that a proxy names with its port', '10.0.0.1', '1.2.3.4:5, 203.0.113.9:49152', '203.0.113.9'],
    ['is the outer of two addresses with ports', '10.0.0.1', '203.0.113.9:49152, 10.0.0.2:443', '203.0.113.9'],
    ['is the /64 of IPv6 that a proxy names with its port', '10.0.0.1', '[2001:db8:1::5]:49152', '2001:db8:1:0::/64'],
    ['is the /64 of IPv6 in brackets', '10.0.0.1', '[2001:db8:1::5]', '2001:db8:1:0::/64'],
    ['is the proxy if a port is none', '10.0.0.1', '203.0.113.9:http', '10.0.0.1'],
  ])('%s', (_, socket, header, address) => {
    expect(addressOf(socket, header, proxiesOf(['10.0.0.0/24', 'fd00::1']))).toBe(address)
  })
  test('security: is the same /64 for every spelling of an IPv6 address', () => {
    const group = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 0xffff }))
    const groups = fc.array(group, { minLength: 8, maxLength: 8 })
    fc.assert(
      fc.property(groups, fc.nat(7), fc.nat(8), fc.boolean(), (all, from, length, isPadded) => {
        // An IPv4-mapped address is an IPv4 address.
        fc.pre(all.findIndex((one) => one !== 0) !== 5 || all[5] !== 0xffff)
        const hex = all.map((one) => one.toString(16).padStart(isPadded ? 4 : 1, '0'))
        const until = Math.min(8, from + length)
        const isZero = until > from && all.slice(from, until).every((one) => one === 0)
        const compressed = `${hex.slice(0, from).join(':')}::${hex.slice(until).join(':')}`
        const spelt = isZero ? compressed : hex.join(':')
        const network = all.slice(0, 4).map((one) => one.toString(16))
        expect(addressOf(spelt, null, proxiesOf([]))).toBe(`${network.join(':')}::/64`)
      }),
    )
  })
  test('security: is the socket address when no proxy is configured, whatever the headers contain', () => {
    expect(addressOf('127.0.0.1', '1.2.3.4', proxiesOf([]))).toBe('127.0.0.1')
  })
})

describe('a token bucket', () => {
  test('allows a burst, refills evenly and reports how long to wait', () => {
    const time = { ms: 0 }
    const limiter = openLimiter({ perMinute: 2, clock: () => time.ms })
    expect([1, 2, 3].map(() => limiter.take('a'))).toEqual([0, 0, 30])
    expect(limiter.take('b')).toBe(0)
    time.ms = 30_000
    expect(limiter.take('a')).toBe(0)
    expect(limiter.take('a')).toBe(30)
  })
  test('keeps a bounded number of keys', () => {
    const limiter = openLimiter({ perMinute: 1, clock: () => 0, keysMax: 2 })
    for (const key of ['a', 'b', 'c']) limiter.take(key)
    expect(limiter.take('c')).toBe(30 * 2)
    expect(limiter.take('a')).toBe(0)
  })
  test('security: still limits a key in use while many other keys arrive', () => {
    const limiter = openLimiter({ perMinute: 1, clock: () => 0, keysMax: 2 })
    limiter.take('a')
    const waits = Array.from({ length: 1_000 }, (_, other) => {
      limiter.take(`other ${other}`)
      return limiter.take('a')
    })
    expect(new Set(waits)).toEqual(new Set([60]))
  })
})

describe('a request id', () => {
  test.each([['abc-123.DEF:9_'], ['0'.repeat(64)]])('%s is accepted from the caller', (id) => {
    expect(requestIdFrom(id)).toBe(id)
  })
  test.each([[null], [''], ['short'], ['0'.repeat(65)], ['with blank here'], ['line\nbreak1']])(
    'is generated instead of accepting %p',
    (id) => expect(requestIdFrom(id)).toMatch(/^[0-9a-f-]{36}$/),
  )
})

describe('an entity tag', () => {
  const tag = etagOf('{}')
  test.each([
    [tag, true],
    [`W/${tag}`, true],
    [`"x", ${tag}`, true],
    ['*', true],
    ['"x"', false],
    [null, false],
  ])('matches If-None-Match %p: %p', (header, matches) => expect(noneMatch(header, tag)).toBe(matches))
})

describe('CORS_ORIGINS', () => {
  const { parse } = fields.CORS_ORIGINS
  test.each([
    'https://app.example',
    'http://localhost:5173',
    'http://127.0.0.1:5173,http://[::1]:5173',
    'capacitor://localhost',
    'https://app.example, https://www.app.example,',
  ])('may be %s', (raw) => {
    expect(parse(raw, undefined)).toEqual(raw.split(',').flatMap((one) => one.trim() || []))
  })
  test.each([
    'https://app.example/',
    'https://app.example/app',
    'https://App.example',
    'https://app.example:443',
    'app.example',
    '*',
    'https://*.app.example',
    'capacitor://localhost/',
  ])('may not be %s, which no browser sends', (raw) => {
    expect(() => parse(raw, undefined)).toThrow('must be origins such as')
  })
})

describe('CORS', () => {
  const corsHeaders = corsOf(['https://app.example'])
  test.each([
    ['the app', '/me', 'https://app.example', 'https://app.example'],
    ['another page', '/me', 'https://evil.example', undefined],
    ['no page', '/me', null, undefined],
    ['security: an origin that only begins alike', '/me', 'https://app.example.evil', undefined],
    ['any origin to the public record', `/verify/0x${'0'.repeat(40)}`, 'https://evil.example', '*'],
    ['no origin to webhooks', '/webhooks/payments', 'https://app.example', undefined],
  ])('allows %s', (_, path, origin, allowed) => {
    expect(corsHeaders(path, origin)['access-control-allow-origin']).toBe(allowed as string)
  })
})
