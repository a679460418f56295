import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { type Outside, outsideOf } from '#infra/demo/outside'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import type { ServiceName } from '#shared/messages/topic'
import { booksClose } from '../invariants/closing'
import { creditsOf } from '../support/ledger'
import { newUser } from '../support/people'
import { ownStack } from '../support/stack'
import { boundariesOf } from './failpoints'

let stack: Stack
let outside: Outside

beforeAll(async () => {
  stack = await ownStack()
  outside = outsideOf(stack.info)
}, 90_000)
afterAll(() => stack?.[Symbol.asyncDispose]())

/** Repeats a request as the app does: until the service is there again. */
const persist = <T extends { status: number }>(what: string, ask: () => Promise<T>) =>
  waitUntil(what, async () => {
    const reply = await ask()
    return reply.status === 200 && reply
  })

/** A message in the hands of a killed process comes again after the consumer's ack wait of 20 s. */
const recoveryMs = 50_000

const throughEverything = async (arm: () => void) => {
  const person = await newUser(stack)
  await persist('sign-in', () => person.get('/me'))
  arm()
  await outside.identity(person.wallet, 'approved')
  const verified = async () => (await person.get('/me')).body.verified
  await waitUntil('verification', verified, recoveryMs)
  const quote = await persist('a quote', () => person.post('/quote', { pair: 'USD/IDR' }))
  const body = { amount: '50000', method: 'qr', quoteId: quote.body.id }
  const topup = await persist('a checkout', () => person.post('/topups', body))
  await outside.pay(topup.body.paymentId, 'QRIS')
  await waitUntil(
    'the credit',
    async () => (await person.get('/me')).body.collateral?.value === topup.body.ausd,
    recoveryMs,
  )
  await waitUntil(
    'nothing in flight',
    async () => (await person.get('/me/activity')).body.inFlight?.length === 0,
    recoveryMs,
  )
  expect(await creditsOf(stack, topup.body.paymentId)).toEqual([
    { wallet: person.wallet, ausdMicro: BigInt(topup.body.ausd), held: false },
  ])
}

/** Boundaries of other paths: settlements, refunds and cash-outs have their own suites. */
const elsewhere = /refund|revoke|settlement/

const services: ServiceName[] = ['gateway', 'pricing', 'payments', 'chain-relayer']
const boundaries = services.flatMap((service) =>
  boundariesOf(service)
    .filter((name) => !elsewhere.test(name))
    .map((name) => [service, name] as const),
)

describe('kill -9 on the way from verdict to credit leaves exactly one credit', () => {
  test.each(boundaries)('%s dies at %s', async (service, name) => {
    const file = stack.failpointFile(service)
    await throughEverything(() => writeFileSync(file, name))
    expect(existsSync(file)).toBe(false)
  })

  test.each([
    'gateway',
    'pricing',
    'payments',
    'chain-relayer',
    'indexer-reader',
    'payouts',
  ] as const)('%s is killed again and again while the money moves', async (service) => {
    const stop = new AbortController()
    const killing = (async () => {
      for (let kills = 0; kills < 4 && !stop.signal.aborted; kills++) {
        stack.process(service).kill('SIGKILL')
        await Bun.sleep(700) // The pace of the murders, not a wait for anything.
      }
    })()
    await throughEverything(() => {})
    stop.abort()
    await killing
  })
})

test('in the end the books say where every unit is', () => booksClose(stack), 60_000)
