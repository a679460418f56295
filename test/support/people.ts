import {
  createTestClient,
  createWalletClient,
  type Hex,
  http,
  publicActions,
  walletActions,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { outsideOf } from '#infra/demo/outside'
import { type Person, personOf } from '#infra/demo/person'
import { walletWei } from '#infra/local/chain'
import { bid } from '#infra/local/fees'
import { devKey } from '#infra/local/keys'
import type { RunningStack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { chainOf } from '#shared/chain/client'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'

let minting: Promise<unknown> = Promise.resolve()

/** Creates a user with an unused wallet and the given amounts of AUSD and native coin. */
export async function newUser(
  stack: RunningStack,
  has: { ausdMicro?: bigint; wei?: bigint } = {},
): Promise<Person> {
  const privateKey = generatePrivateKey()
  const person = personOf(stack.info, privateKey)
  minting = minting.catch(() => {}).then(() => fund(stack, person.account.address, has))
  await minting
  return person
}

/** Mints AUSD and sets native coin for a wallet. */
export async function fund(
  stack: RunningStack,
  wallet: Hex,
  has: { ausdMicro?: bigint; wei?: bigint },
) {
  const { chain } = stack.info
  const client = createTestClient({
    mode: 'anvil',
    chain: chainOf(chain.chainId),
    transport: http(chain.rpcUrl),
  })
    .extend(publicActions)
    .extend(walletActions)
  if (has.wei !== 0n) await client.setBalance({ address: wallet, value: has.wei ?? walletWei })
  if (!has.ausdMicro) return
  // The node chooses the nonce, because suites in other processes mint with the same key.
  const account = privateKeyToAddress(devKey('admin'))
  await client.impersonateAccount({ address: account })
  const mint = {
    address: chain.ausd as Hex,
    abi: ausdAbi,
    functionName: 'mint',
    args: [wallet, has.ausdMicro],
  } as const
  const hash = await client.writeContract({
    ...mint,
    account,
    gas: 120_000n,
    ...(await bid(client)),
  })
  await waitUntil('AUSD being minted', () =>
    client.getTransactionReceipt({ hash }).catch(() => undefined),
  )
}

/** Creates a user whose verification is final on the chain. */
export async function verifiedUser(
  stack: RunningStack,
  has: { ausdMicro?: bigint; wei?: bigint } = {},
): Promise<Person> {
  const person = await newUser(stack, has)
  await outsideOf(stack.info).identity(person.wallet, 'approved')
  await person.until('verification', (me) => me.verified, 60_000)
  return person
}

/** Returns calls of the credit line that are not the service's, by the development key of this name. */
export function callerOf({ info: { chain } }: RunningStack, name: string) {
  const account = privateKeyToAccount(devKey(name))
  const client = createWalletClient({
    account,
    chain: chainOf(chain.chainId),
    transport: http(chain.rpcUrl),
  }).extend(publicActions)
  /** Sends a call and waits until it is mined; throws if it reverted. */
  const call = async (functionName: string, args: readonly unknown[]) => {
    const request = { functionName, args, gas: 500_000n, ...(await bid(client)) }
    const at = { address: chain.creditLine as Hex, abi: creditLineAbi }
    const hash = await client.writeContract({ ...at, ...request } as never)
    const receipt = await waitUntil(`${functionName} to be mined`, () =>
      client.getTransactionReceipt({ hash }).catch(() => undefined),
    )
    if (receipt.status !== 'success') throw new Error(`${functionName} reverted`)
  }
  /** Returns the time of the newest block, in unix seconds. */
  const nowSeconds = async () => Number((await client.getBlock()).timestamp)
  return { account, call, nowSeconds }
}
