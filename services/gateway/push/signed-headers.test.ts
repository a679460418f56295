import { expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { readConfig } from '#platform/config'
import { fields } from '../config'
import { config, settings } from '../test-support/fixture'
import { keyOf, signedHeaders } from './signed-headers'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

test('a call is signed as the example of Standard Webhooks is', () => {
  // The values are those of the specification's own libraries.
  const key = keyOf('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
  const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek'
  const headers = signedHeaders([key], { id, atSeconds: 1614265330, body: '{"test": 2432232314}' })
  expect(headers).toEqual({
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
})

test('a call has a signature by each secret, in their order', () => {
  const keys = [Buffer.alloc(24, 1), Buffer.alloc(64, 2)]
  const { 'webhook-signature': signature } = signedHeaders(keys, { id: 'a', atSeconds: 5, body: 'é' })
  const expected = keys.map((key) => `v1,${createHmac('sha256', key).update('a.5.é', 'utf8').digest('base64')}`)
  expect(signature).toBe(expected.join(' '))
})

test.each([
  'whsec_',
  'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  `whsec_${Buffer.alloc(23).toString('base64')}`,
  `whsec_${Buffer.alloc(65).toString('base64')}`,
  'whsec_!fKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw MfKQ',
])('%s is no secret', (wrong) => {
  expect(() => keyOf(wrong)).toThrow('must be whsec_<base64')
})

const read = (more: Record<string, string>) => () => readConfig('gateway', fields, { ...settings, ...more })
const url = 'https://app.example.org/events'
const password = { NATS_PASSWORD_INTEGRATOR: 'p' }

test('the gateway starts with all settings of events, or with none', () => {
  expect(config.eventsUrl).toBe('')
  const all = { EVENTS_URL: url, EVENTS_SECRETS: `${secret}, ${secret}`, ...password }
  expect(read(all)().eventsSecrets).toEqual([Buffer.alloc(32, 7), Buffer.alloc(32, 7)])
  expect(read(password)).not.toThrow()
  expect(read({ EVENTS_URL: url, ...password })).toThrow('EVENTS_SECRETS is not set')
  expect(read({ EVENTS_URL: url, EVENTS_SECRETS: secret })).toThrow('NATS_PASSWORD_INTEGRATOR is not set')
  expect(read({ EVENTS_SECRETS: secret })).toThrow('EVENTS_SECRETS is set, but EVENTS_URL is not')
  expect(read({ ...all, EVENTS_SECRETS: 'secret' })).toThrow('EVENTS_SECRETS must be whsec_')
})

test.each(['ftp://a.example', 'a.example', 'https://user:word@a.example/events'])(
  'the gateway does not start with the endpoint %s',
  (wrong) => {
    expect(read({ EVENTS_URL: wrong, EVENTS_SECRETS: secret, ...password })).toThrow('EVENTS_URL must')
  },
)

test('security: events of real money are sent over https alone', () => {
  const { parse } = fields.EVENTS_URL
  const among = (deployment: string) => (name: string) => (name === 'DEPLOYMENT' ? deployment : undefined)
  expect(() => parse('http://app.example.org', among('live'))).toThrow('must begin with https://')
  expect(parse(url, among('live'))).toBe(url)
  expect(parse('http://127.0.0.1:3100/events', among('local'))).toBe('http://127.0.0.1:3100/events')
})
