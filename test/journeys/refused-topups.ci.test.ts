import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { Person } from '#infra/demo/person'
import type { RunningStack } from '#infra/local/stack'
import { expectNothingWritten } from '../support/database'
import { newUser, verifiedUser } from '../support/people'
import { answered } from '../support/requests'
import { sharedStack } from '../support/stack'

let stack: RunningStack
let person: Person
let unverified: Person
let idr: string
let myr: string
const nobody = '7f9c24e8-3b1a-4d52-9e0f-1c2d3e4f5a6b'

beforeAll(async () => {
  stack = await sharedStack()
  person = await verifiedUser(stack)
  unverified = await newUser(stack)
  await unverified.me()
})

/** Quotes are new for each test: one lasts a minute, and the suite may take longer. */
beforeEach(async () => {
  idr = (await person.quote('USD/IDR')).id
  myr = (await person.quote('USD/MYR')).id
})

const good = () => ({ amount: '50000', method: 'qr', quoteId: idr })
const digits = 'amount must be a string of 1 to 30 digits, in the smallest unit'

const rows: [string, () => unknown, number, string][] = [
  ['no body', () => undefined, 400, 'the body must be a JSON object'],
  ['a list', () => [], 400, 'the body must be a JSON object'],
  ['a number', () => 5, 400, 'the body must be a JSON object'],
  ['nothing in it', () => ({}), 400, 'amount is missing'],
  ['an unknown key', () => ({ ...good(), bonus: '1' }), 400, 'bonus is not a known field'],
  ['a number where a string belongs', () => ({ ...good(), amount: 50_000 }), 400, digits],
  ['a sign', () => ({ ...good(), amount: '-50000' }), 400, digits],
  ['an exponent', () => ({ ...good(), amount: '5e4' }), 400, digits],
  ['a leading blank', () => ({ ...good(), amount: ' 50000' }), 400, digits],
  ['a trailing blank', () => ({ ...good(), amount: '50000 ' }), 400, digits],
  ['a hundred digits', () => ({ ...good(), amount: '9'.repeat(100) }), 400, digits],
  ['another method', () => ({ ...good(), method: 'cash' }), 400, 'method must be bank, card or qr'],
  ['no uuid', () => ({ ...good(), quoteId: 'abc' }), 400, 'quoteId must be a uuid'],
  ['zero', () => ({ ...good(), amount: '0' }), 400, 'The minimum amount is Rp 10,000.'],
  ['less than Rp 10,000', () => ({ ...good(), amount: '9999' }), 400, 'The minimum amount is Rp 10,000.'],
  ['less than RM 5.00', () => ({ ...good(), quoteId: myr, amount: '499' }), 400, 'The minimum amount is RM 5.00.'],
  [
    'more than any channel takes',
    () => ({ ...good(), amount: '9'.repeat(30) }),
    400,
    'Amount exceeds the maximum of a payment.',
  ],
  ['an unknown quote', () => ({ ...good(), quoteId: nobody }), 400, 'This quote is not valid. Request a new one.'],
]

describe('a top-up that is refused', () => {
  // One test tries all of them, because reading everything that was written takes longer than the requests.
  test('for its form, its amount, its quote or its user gets the reason, and nothing is written', async () => {
    await expectNothingWritten(
      stack,
      async () => {
        for (const [what, body, status, error] of rows) {
          const reply = await answered(() => person.call('POST', '/topups', body()))
          expect({ what, status: reply.status, body: reply.body }).toEqual({ what, status, body: { error } })
        }
        const reply = await unverified.insist('/topups', good())
        expect(reply).toMatchObject({ status: 403, body: { error: 'verify your identity first' } })
      },
      person.wallet,
      unverified.wallet,
      idr,
      myr,
    )
  })

  test('because its text is not JSON gets the reason', async () => {
    const reply = await fetch(`${stack.info.gateway}/quote`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"pair":',
    })
    expect({ status: reply.status, body: await reply.json() }).toEqual({
      status: 400,
      body: { error: 'the body is not valid JSON' },
    })
  })

  test('leaves its quote unused', async () => {
    for (const refused of [
      { ...good(), amount: '9999' },
      { ...good(), quoteId: myr, amount: '499' },
    ])
      expect((await person.insist('/topups', refused)).status).toBe(400)
    expect((await unverified.insist('/topups', good())).status).toBe(403)
    expect((await person.insist('/topups', good())).status).toBe(200)
    expect((await person.insist('/topups', { ...good(), quoteId: myr, amount: '500' })).status).toBe(200)
  })
})
