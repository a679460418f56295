import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { Person, Reply } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { patienceMs, waitUntil } from '#infra/local/wait'
import { groupStack } from '../runner/group'
import { verifiedUser } from '../support/people'
import { answered } from '../support/requests'
import { becomes } from '../support/wait'
import { world } from './external'

let stack: Stack
let person: Person

beforeAll(async () => {
  stack = groupStack()
  person = await verifiedUser(stack)
})

afterAll(() => world.turn('fair'))

const fairRates = [
  ['USD/IDR', '16250'],
  ['USD/MYR', '421'],
] as const
beforeEach(async () => {
  world.turn('fair')
  for (const [pair, rate] of fairRates) await becomes(() => rateNow(pair), rate)
})

const hasNoRate = ({ headers }: Reply) => headers.get('x-error-code') === 'rate_unavailable'
/** Requests a quote. The response may be the refusal without a rate; a slow service is retried. */
const quote = (pair: string): Promise<Reply> => answered(() => person.post('/quote', { pair }), { meant: hasNoRate })
const rateNow = async (pair: string): Promise<string> => (await quote(pair)).body.rate
const quoted = (pair: string, status: number): Promise<Reply> =>
  waitUntil(
    `${status} for ${pair}`,
    async () => {
      const reply = await quote(pair)
      return reply.status === status && reply
    },
    patienceMs,
    100,
  )
/** Waits for two polls, of which the second began after the change. */
async function polled() {
  const before = [world.asked('frankfurter'), world.asked('bnm'), world.asked('open-er-api')]
  await waitUntil('two more polls', () => {
    const [frankfurter, bnm, openEr] = before as [number, number, number]
    return (
      world.asked('frankfurter') >= frankfurter + 4 &&
      world.asked('bnm') >= bnm + 2 &&
      world.asked('open-er-api') >= openEr + 4
    )
  })
}

describe('rates from external sources', () => {
  test.each(fairRates)('%s is quoted at the rate of the first source: %s', async (pair, rate) => {
    expect((await quote(pair)).body).toMatchObject({ pair, rate })
  })

  test.each(['html', 'redirect', 'slow body', 'down', 'missing currency'] as const)(
    'when every source answers %s, the last good rate stays in use',
    async (weather) => {
      world.turn(weather)
      await polled()
      expect((await quote('USD/IDR')).body).toMatchObject({ rate: '16250' })
    },
  )

  test('a source that fails alone is replaced by the next one, and its doubt widens the spread', async () => {
    // Bank Negara has 4.2942, and open.er-api.com 2 % less.
    world.turn('near', 'bnm')
    world.turn('inverted', 'frankfurter')
    await becomes(() => rateNow('USD/MYR'), '438')
  })

  test('the last good rate survives a restart while the sources are down', async () => {
    world.turn('down')
    const before = stack.process('pricing').pid()
    stack.process('pricing').kill('SIGKILL')
    await waitUntil('another process', () => {
      const now = stack.process('pricing').pid()
      return now !== before && now > 0
    })
    expect((await quoted('USD/MYR', 200)).body).toMatchObject({ rate: '421' })
  })
})

describe('without a usable rate, POST /quote returns 503', () => {
  test.each(['stale', 'apart', 'inverted', 'rate of 1'] as const)(
    'because the sources are %s, POST /quote answers 503 with Retry-After',
    async (weather) => {
      world.turn(weather)
      const refused = await quoted('USD/IDR', 503)
      expect(refused.body).toMatchObject({
        error: 'Exchange rate unavailable. Try again shortly.',
      })
      expect(refused.headers.get('Retry-After')).toMatch(/^[1-9][0-9]*$/)
      world.turn('fair')
      await quoted('USD/IDR', 200)
    },
  )

  test('because the only source left jumped, until an operator releases the rate', async () => {
    world.turn('inverted', 'frankfurter')
    world.turn('apart', 'bnm')
    world.turn('apart', 'open-er-api')
    await quoted('USD/MYR', 503)
  })

  test('because the only source left is a cross-check', async () => {
    world.turn('inverted', 'frankfurter')
    await quoted('USD/IDR', 503)
    await quoted('USD/MYR', 200)
  })

  test('but quotes locked before keep their rate', async () => {
    const locked = await quote('USD/IDR')
    world.turn('stale')
    await quoted('USD/IDR', 503)
    const opened = await person.insist('/topups', {
      amount: '162500',
      method: 'qr',
      quoteId: locked.body.id,
    })
    expect(opened).toMatchObject({ status: 200, body: { fiat: '162500', ausd: '10000000' } })
    const fresh = await quote('USD/IDR')
    expect(fresh.status).toBe(503)
  })
})
