import { beforeAll, describe, expect, test } from 'bun:test'
import {
  createWalletClient,
  encodeAbiParameters,
  type Hex,
  http,
  keccak256,
  type LocalAccount,
  publicActions,
  toHex,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount, toAccount } from 'viem/accounts'
import { ownedWalletAbi, ownedWalletBytecode } from '#infra/contracts/artifacts.gen'
import { type Person, personOf } from '#infra/demo/person'
import { bid } from '#infra/local/fees'
import { devKey } from '#infra/local/keys'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { chainOf } from '#shared/chain/client'
import { ausdOf } from '../support/ledger'
import { fund } from '../support/people'
import { cashoutBody, entryIn } from '../support/requests'
import { sharedStack } from '../support/stack'

let stack: Stack
let person: Person
let impostor: Person

/** The owner's signature as the contract wants it: wrapped, and longer than 65 bytes. */
const wrapped = (signature: Hex): Hex =>
  encodeAbiParameters(
    [{ type: 'bytes32' }, { type: 'bytes' }],
    [keccak256(toHex('OwnedWallet')), signature],
  )

const walletOf = (address: Hex, owner: LocalAccount): LocalAccount =>
  toAccount({
    address,
    signMessage: async (message) => wrapped(await owner.signMessage(message)),
    signTypedData: async (data) => wrapped(await owner.signTypedData(data as never)),
    signTransaction: () => Promise.reject(new Error('a contract sends no transactions')),
  })

async function deployWallet(owner: LocalAccount): Promise<Hex> {
  const { rpcUrl, chainId } = stack.info.chain
  const account = privateKeyToAccount(devKey('admin'))
  const chain = createWalletClient({ account, chain: chainOf(chainId), transport: http(rpcUrl) })
  const reader = chain.extend(publicActions)
  const hash = await chain.deployContract({
    abi: ownedWalletAbi,
    bytecode: ownedWalletBytecode,
    args: [owner.address],
    gas: 1_000_000n,
    ...(await bid(reader)),
  })
  const receipt = await waitUntil('the wallet being deployed', () =>
    reader.getTransactionReceipt({ hash }).catch(() => undefined),
  )
  return receipt.contractAddress!
}

beforeAll(async () => {
  stack = await sharedStack()
  const owner = privateKeyToAccount(generatePrivateKey())
  const address = await deployWallet(owner)
  await fund(stack, address, { ausdMicro: 20_000_000n, wei: 0n })
  person = personOf(stack.info, walletOf(address, owner))
  impostor = personOf(stack.info, walletOf(address, privateKeyToAccount(generatePrivateKey())))
}, 90_000)

describe('a contract wallet (ERC-1271)', () => {
  test('signs in, and cashes out with a signature longer than 65 bytes', async () => {
    expect((await person.get('/me')).body.wallet).toBe(person.wallet)
    const reply = await person.post('/cashouts', await cashoutBody(stack, person))
    expect(reply.status).toBe(200)
    await entryIn(person, reply.body.payoutId, 'paid')
    expect(await ausdOf(stack, person.wallet)).toBe(15_000_000n)
  })

  test('security: is not opened by another key than its owner', async () => {
    expect((await impostor.get('/me')).status).toBe(401)
    const body = await cashoutBody(stack, impostor)
    expect(await person.post('/cashouts', body)).toMatchObject({
      status: 400,
      body: {
        error:
          'authorization.signature is not a signature of authorization.from over this transfer',
      },
    })
  })
})
