import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Address } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { verifiedUser } from '../support/people'
import { ownStack } from '../support/stack'

let stack: Stack

beforeAll(async () => {
  stack = await ownStack()
}, 90_000)
afterAll(() => stack?.[Symbol.asyncDispose]())

const anybody = () => privateKeyToAccount(generatePrivateKey()).address

describe('a send at our cost', () => {
  let person: Person
  beforeAll(async () => {
    person = await verifiedUser(stack, { ausdMicro: 20_000_000n })
  }, 60_000)

  const places = [
    ['the credit line', 'creditLine', 'authorization.to must not be the credit line'],
    ['the treasury', 'treasury', 'authorization.to must not be the treasury'],
    ['the token', 'ausd', 'authorization.to must not be the token contract'],
  ] as const

  test.each(places)('moves AUSD to %s, where nobody expects it', async (_, place, error) => {
    const to = stack.info.chain[place] as Address
    const authorization = await person.sign({ to, valueMicro: 1_000_000n })
    const reply = await person.post('/sends', { authorization })
    expect({ status: reply.status, body: reply.body }).toEqual({ status: 400, body: { error } })
  })

  test('lapses before a block can take it', async () => {
    const terms = { to: anybody(), valueMicro: 1_000_000n }
    const authorization = await person.sign({ ...terms, validForSeconds: 59 })
    const reply = await person.post('/sends', { authorization })
    expect({ status: reply.status, body: reply.body }).toEqual({
      status: 400,
      body: { error: 'authorization.validBefore must be at least 60 seconds in the future' },
    })
  })
})
