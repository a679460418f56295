import { beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'nats'
import { generatePrivateKey } from 'viem/accounts'
import { type Person, personOf, type Reply } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { SignatureCheck } from '#shared/messages/chain'
import { QuoteCreate } from '#shared/messages/pricing'
import { groupStack } from '../runner/group'
import { query } from '../support/database'
import { verifiedUser } from '../support/people'
import { answered } from '../support/requests'
import { suspend } from '../support/wait'
import { publicConcurrencyMax } from './fixture'

/** Time in ms for which the gateway waits for a dependency before it admits another request. */
const waitsMs = 1_800
let stack: Stack
let person: Person

beforeAll(async () => {
  stack = groupStack()
  person = await verifiedUser(stack, { ausdMicro: 20_000_000n })
})

const asAdmin = () => {
  const { url, admin } = stack.info.nats
  return connect({ servers: url, user: admin.user, pass: admin.password })
}
const addressOf = (number: number) => `203.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`
/** Returns a request whose session only the chain can verify, because its signer claims to be a contract. */
function contractSignInOf(number: number) {
  const wallet = `0x${number.toString(16).padStart(40, '5')}`
  const until = Math.floor(Date.now() / 1000) + 60
  const headers = {
    authorization: `Service ${wallet}.${until}.0x${'11'.repeat(64)}1b`,
    'x-forwarded-for': addressOf(number),
  }
  return fetch(`${stack.info.gateway}/me`, { headers })
}
const quoteOf = (number: number) =>
  fetch(`${stack.info.gateway}/quote`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-forwarded-for': addressOf(number),
    },
    body: JSON.stringify({ pair: 'USD/IDR' }),
  })

const crowded = 'the service is busy, try again in a moment'
/** Repeats a refused request, unless the flood caused the refusal. */
const goesOn = (ask: () => Promise<Reply>) => answered(ask, { meant: ({ body }) => body.error === crowded })

describe('an attacker with many addresses', () => {
  test('fills the public requests while their service hangs: few wait, and signed requests succeed', async () => {
    const nc = await asAdmin()
    let through = 0
    nc.subscribe(QuoteCreate.subject, { callback: () => void through++ })
    await nc.flush()
    await suspend(stack.process('pricing').pid())
    try {
      const startedAt = Date.now()
      const all = Promise.all(Array.from({ length: 8 * publicConcurrencyMax }, (_, n) => quoteOf(n)))
      await waitUntil('the flood', () => through >= publicConcurrencyMax)
      expect(await goesOn(() => person.get('/me'))).toMatchObject({ status: 200 })
      const answers = await all
      await nc.flush()
      const turns = Math.ceil((Date.now() - startedAt) / waitsMs)
      expect(through).toBeLessThanOrEqual(publicConcurrencyMax * turns)
      const bodies = await Promise.all(
        answers.map(async (answer) => ({
          ...((await answer.json()) as { error: string }),
          retryAfter: answer.headers.get('retry-after'),
        })),
      )
      expect(bodies).toContainEqual({
        error: crowded,
        retryAfter: '2',
      })
    } finally {
      stack.process('pricing').kill('SIGCONT')
      await nc.close()
    }
    await waitUntil('quotes', async () => (await quoteOf(0)).ok)
  })

  test('signs in as contracts that do not exist while the chain hangs: few requests wait for it', async () => {
    const nc = await asAdmin()
    let through = 0
    nc.subscribe(SignatureCheck.subject, { callback: () => void through++ })
    await nc.flush()
    await suspend(stack.process('chain').pid())
    try {
      const startedAt = Date.now()
      const all = Promise.all(Array.from({ length: 8 * publicConcurrencyMax }, (_, n) => contractSignInOf(n)))
      await waitUntil('the flood', () => through >= publicConcurrencyMax)
      const newcomer = personOf(stack.info, generatePrivateKey())
      const country = () => newcomer.post('/me/country', { country: 'ID' })
      expect(await goesOn(country)).toMatchObject({ status: 200 })
      const statuses = (await all).map(({ status }) => status)
      await nc.flush()
      const turns = Math.ceil((Date.now() - startedAt) / waitsMs)
      expect(through).toBeLessThanOrEqual(publicConcurrencyMax * turns)
      expect(new Set(statuses)).toEqual(new Set([503]))
    } finally {
      stack.process('chain').kill('SIGCONT')
      await nc.close()
    }
    await waitUntil('an answer', async () => (await contractSignInOf(0)).status === 401)
  })

  test('locks more quotes than any table could hold: paid work continues', async () => {
    const { id: quoteId } = await person.quote('USD/IDR')
    const nc = await asAdmin()
    const manager = await nc.jetstreamManager()
    const stored = async () => (await manager.getAccountInfo()).storage
    const taken = async () => {
      const [row] = await query<{ rows: number }>(stack, 'select count(*)::int as rows from pricing.quotes_taken')
      return row!.rows
    }
    const before = { bytes: await stored(), rows: await taken() }
    try {
      // This is a hundredth of the flood that once filled the store of quotes: 770,000 of them.
      for (let round = 0; round < 30; round++)
        await Promise.all(Array.from({ length: 15 }, (_, n) => quoteOf(round * 15 + n)))
      const topup = { amount: '520000', method: 'bank' }
      expect(await person.insist('/topups', { ...topup, quoteId })).toMatchObject({ status: 200 })
      const late = await person.quote('USD/IDR')
      const again = await person.insist('/topups', { ...topup, quoteId: late.id })
      expect(again).toMatchObject({ status: 200 })
      expect((await taken()) - before.rows).toBe(2)
      // Storing 450 quotes would take 80,000 bytes or more.
      expect((await stored()) - before.bytes).toBeLessThan(20_000)
    } finally {
      await nc.close()
    }
  })
})
