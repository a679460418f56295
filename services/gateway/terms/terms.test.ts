import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { handler } from '#platform/bus/serve'
import { readConfig } from '#platform/config'
import { signIn } from '#shared/client/session'
import { TopupCreate } from '#shared/messages/payments'
import { ok, refuse } from '#shared/refusals'
import { fields } from '../config'
import { answerAs, type Dependencies, startBackbone, startGateway } from '../test-support/dependencies'
import { errorOf, settings } from '../test-support/fixture'
import { acceptedTerms } from './terms.store'

const terms = { termsVersion: '2026-11-01', termsUrl: 'https://example.org/terms' }
let backbone: Dependencies
let payments: AsyncDisposable
let gateway: Awaited<ReturnType<typeof startGateway>>
beforeAll(async () => {
  backbone = await startBackbone()
  payments = await answerAs(backbone, 'payments', [
    handler(TopupCreate, async ({ quoteId: asked, termsMissing }) =>
      termsMissing && asked !== repeated ? refuse('terms_not_accepted') : ok(checkout),
    ),
  ])
  gateway = await startGateway(backbone, terms)
})
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]()
  await payments?.[Symbol.asyncDispose]()
  await backbone?.[Symbol.asyncDispose]()
})

const account = () => privateKeyToAccount(generatePrivateKey())
const quoteId = '7f9c24e8-3b1a-8d52-9e0f-1c2d3e4f5a6b'
/** Quote of a top-up that payments has already. */
const repeated = '7f9c24e8-3b1a-8d52-9e0f-1c2d3e4f5a6c'
const checkout = { paymentId: 'pay_1', checkoutUrl: 'https://pay.example', fiat: '50000', ausd: '3076923' }
const topup = { amount: '50000', method: 'qr', quoteId }
async function call(
  who: ReturnType<typeof account>,
  path: string,
  { body, accepts, from = gateway }: { body?: object; accepts?: string; from?: typeof gateway } = {},
) {
  const headers = {
    authorization: await signIn(who, Math.floor(Date.now() / 1_000) + 3_600),
    'content-type': 'application/json',
    ...(accepts && { 'accepted-terms': accepts }),
  }
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const response = await fetch(`${from.url}${path}`, { headers, ...init })
  return { status: response.status, code: response.headers.get('x-error-code'), response }
}
const refused = { status: 403, code: 'terms_not_accepted' }
const passed = { status: 200, code: null }
/** Response of a request that passed the terms and whose owner does not run here. */
const passedTo = { status: 503, code: 'unavailable' }
const recorded = () => backbone.database.read((db) => db.select().from(acceptedTerms))

describe('terms of service', () => {
  test('must be accepted before a top-up, and the refusal names version and page', async () => {
    const { response, ...told } = await call(account(), '/topups', { body: topup })
    expect(told).toEqual(refused)
    expect(await errorOf(response)).toBe(
      'Accept the current terms of service first. (version 2026-11-01: https://example.org/terms)',
    )
  })

  test('do not stand between a user and the response to a top-up that was opened under earlier terms', async () => {
    const { response, ...told } = await call(account(), '/topups', { body: { ...topup, quoteId: repeated } })
    expect(told).toMatchObject(passed)
    expect(await response.json()).toEqual(checkout)
  })

  test('are accepted by the header of any signed request, which records the time once', async () => {
    const who = account()
    const before = Date.now() - 1_000
    await call(who, '/me/country', { body: { country: 'ID' }, accepts: '2026-11-01' })
    const [row] = (await recorded()).filter(({ wallet }) => wallet === who.address.toLowerCase())
    expect(row).toMatchObject({ version: '2026-11-01' })
    expect(row!.acceptedAt.getTime()).toBeGreaterThan(before)
    expect(await call(who, '/topups', { body: topup })).toMatchObject(passed)
    await using other = await startGateway(backbone, terms)
    expect(await call(who, '/topups', { body: topup, from: other })).toMatchObject(passed)
    await call(who, '/me/country', { body: { country: 'MY' }, accepts: '2026-11-01', from: other })
    const again = (await recorded()).filter(({ wallet }) => wallet === who.address.toLowerCase())
    expect(again).toEqual([row!])
  })

  test('of another version than the current one are not accepted', async () => {
    const who = account()
    expect(await call(who, '/topups', { body: topup, accepts: '2026-10-01' })).toMatchObject(refused)
    expect((await recorded()).filter(({ wallet }) => wallet === who.address.toLowerCase())).toEqual([])
    await using next = await startGateway(backbone, { ...terms, termsVersion: '2026-12-01' })
    await call(who, '/me/country', { body: { country: 'ID' }, accepts: '2026-11-01' })
    expect(await call(who, '/topups', { body: topup })).toMatchObject(passed)
    expect(await call(who, '/topups', { body: topup, from: next })).toMatchObject(refused)
    expect(await call(who, '/topups', { body: topup, accepts: '2026-12-01', from: next })).toMatchObject(passed)
  })

  test('do not stand between a user and a debt, nor the own data', async () => {
    const who = account()
    expect(await call(who, '/settlements', { body: { quoteId } })).toMatchObject(passedTo)
    expect(await call(who, '/me')).toMatchObject(passedTo)
    expect(await call(who, '/me/verification', { body: {} })).toMatchObject(refused)
  })

  test('are not asked for without a version', async () => {
    await using without = await startGateway(backbone)
    expect(await call(account(), '/topups', { body: topup, from: without })).toMatchObject(passed)
  })
})

describe('the settings of the terms', () => {
  const read = (more: Record<string, string>) => () => readConfig('gateway', fields, { ...settings, ...more })
  test('need an https address once there is a version', () => {
    expect(read({})).not.toThrow()
    expect(read({ TERMS_VERSION: '2026-11-01', TERMS_URL: 'https://example.org/terms' })).not.toThrow()
    expect(read({ TERMS_VERSION: '2026-11-01' })).toThrow('TERMS_URL must be the https address')
    expect(read({ TERMS_VERSION: '2026-11-01', TERMS_URL: 'http://example.org' })).toThrow('TERMS_URL must be')
    expect(read({ TERMS_VERSION: 'first version' })).toThrow('TERMS_VERSION must be 1 to 40')
  })
})
