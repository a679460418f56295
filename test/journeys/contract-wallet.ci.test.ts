import { beforeAll, describe, expect, test } from 'bun:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { type Person, personOf } from '#infra/demo/person'
import type { RunningStack } from '#infra/local/stack'
import { deployWallet, walletSigner } from '../support/contract-wallets'
import { ausdOf } from '../support/ledger'
import { fund } from '../support/people'
import { answered, cashoutBody, entryIn } from '../support/requests'
import { sharedStack } from '../support/stack'

let stack: RunningStack
let person: Person
let impostor: Person

beforeAll(async () => {
  stack = await sharedStack()
  const owner = privateKeyToAccount(generatePrivateKey())
  const address = await deployWallet(stack, owner.address)
  await fund(stack, address, { ausdMicro: 20_000_000n, wei: 0n })
  person = personOf(stack.info, walletSigner(address, owner))
  impostor = personOf(stack.info, walletSigner(address, privateKeyToAccount(generatePrivateKey())))
})

describe('a contract wallet (ERC-1271)', () => {
  test('signs in, and cashes out with a signature longer than 65 bytes', async () => {
    expect((await person.me()).wallet).toBe(person.wallet)
    const reply = await person.insist('/cashouts', await cashoutBody(stack, person))
    expect(reply.status).toBe(200)
    await entryIn(person, reply.body.payoutId, 'paid')
    expect(await ausdOf(stack, person.wallet)).toBe(15_000_000n)
  })

  test("security: rejects every key but its owner's", async () => {
    expect((await answered(() => impostor.get('/me'))).status).toBe(401)
    const body = await cashoutBody(stack, impostor)
    expect(await person.insist('/cashouts', body)).toMatchObject({
      status: 400,
      body: {
        error: 'authorization.signature is not a valid signature of this transfer by authorization.from',
      },
    })
  })
})
