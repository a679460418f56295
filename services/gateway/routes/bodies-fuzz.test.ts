import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type BodyPath, goodBodies, spoilt } from '../test-support/bodies'
import { fixtureOf } from '../test-support/fixture'
import { ana, headerOf } from '../test-support/wallets'

/** No service responds: a body that passes its reader gets 503, all others 4xx. */
const fixture = await fixtureOf()
const authorization = await headerOf(ana)
const headers = { authorization, 'content-type': 'application/json' }
const paths = Object.keys(goodBodies) as BodyPath[]
const fields = [
  'pair',
  'country',
  'amount',
  'method',
  'quoteId',
  'authorization',
  'authorization.value',
  'authorization.signature',
  'bank',
  'bank.accountNumber',
  'bank.accountHolderName',
  '__proto__',
  'constructor',
  'toString',
  'a/b',
  'a~1b',
  '',
]
const runs = { numRuns: 300, seed: 20_261_121 }

async function isAnswered(path: string, raw: string): Promise<void> {
  const response = await fixture.call('POST', path, { raw, headers })
  const body = (await response.json()) as { error?: unknown }
  if (path === '/me/country' && response.status === 200) return
  expect([400, 413, 503]).toContain(response.status)
  expect(typeof body.error).toBe('string')
  if (response.status === 503) expect(body.error).toBe('the service is busy, try again')
}

test('the gateway answers any JSON body', () =>
  fc.assert(fc.asyncProperty(fc.constantFrom(...paths), fc.json({ maxDepth: 4 }), isAnswered), runs))

test('the gateway answers any text body', () =>
  fc.assert(fc.asyncProperty(fc.constantFrom(...paths), fc.string({ unit: 'binary' }), isAnswered), runs))

test('the gateway answers a valid body with any value in any field', () =>
  fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...paths),
      fc.constantFrom(...fields),
      fc.jsonValue(),
      async (path, field, value) => {
        const [holder] = field.split('.')
        const known = field.includes('.') && !(holder! in goodBodies[path])
        if (!known) await isAnswered(path, JSON.stringify(spoilt(goodBodies[path], field, value)))
      },
    ),
    runs,
  ))

test('security: the gateway answers any Authorization header with 401', () =>
  fc.assert(
    fc.asyncProperty(fc.string({ maxLength: 300 }), async (text) => {
      const header = `Service ${text.replace(/[^\x21-\x7e]/g, '.')}`
      const response = await fixture.call('GET', '/me', { headers: { authorization: header } })
      expect(response.status).toBe(401)
    }),
    runs,
  ))
