import { beforeAll, describe, expect, test } from 'bun:test'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import type { Person } from '#infra/demo/person'
import type { RunningStack } from '#infra/local/stack'
import { okOf } from '#shared/client/client'
import { ausdOf } from '../support/ledger'
import { newUser, verifiedUser } from '../support/people'
import { sharedStack } from '../support/stack'

let stack: RunningStack
let person: Person

beforeAll(async () => {
  stack = await sharedStack()
  person = await verifiedUser(stack, { ausdMicro: 20_000_000n })
})

const anybody = () => privateKeyToAddress(generatePrivateKey())

describe('a send', () => {
  test('is relayed once, answered at once, and listed until it is final', async () => {
    const to = anybody()
    const authorization = await person.sign({ to, valueMicro: 1_500_000n })
    const order = okOf(await person.api.send({ authorization }))
    expect(order).toMatchObject({ ausd: '1500000' })
    expect(order.to.toLowerCase()).toBe(to.toLowerCase())
    expect(okOf(await person.api.send({ authorization }))).toEqual(order)
    const item = await person.api.waitFor(order.sendId, { everyMs: 100 })
    expect(item).toMatchObject({
      status: 'sent',
      txHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    })
    expect(await ausdOf(stack, to)).toBe(1_500_000n)
  })

  test.each([
    ['to the zero address', { to: `0x${'0'.repeat(40)}` }, 'This address cannot receive AUSD.'],
    ['of nothing', { value: '0' }, 'The amount must be more than 0.'],
    ['that lapsed', { validBefore: '1' }, 'authorization.validBefore must be in the future'],
    ['that is not valid yet', { validAfter: '9999999999' }, 'authorization.validAfter must be in the past'],
    [
      'of more than was signed',
      { value: '1500001' },
      'authorization.signature is not a valid signature of this transfer by authorization.from',
    ],
  ])('with %s is refused', async (_, change, error) => {
    const signed = await person.sign({ to: anybody(), valueMicro: 1_500_000n })
    const reply = await person.insist('/sends', { authorization: { ...signed, ...change } })
    expect({ status: reply.status, body: reply.body }).toEqual({ status: 400, body: { error } })
  })

  test('by an account that is not verified is refused', async () => {
    const unverified = await newUser(stack, { ausdMicro: 2_000_000n })
    const authorization = await unverified.sign({ to: anybody(), valueMicro: 1_000_000n })
    expect(await unverified.insist('/sends', { authorization })).toMatchObject({
      status: 403,
      body: { error: 'verify your identity first' },
    })
  })
})
