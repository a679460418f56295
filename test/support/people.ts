import {
  type Abi,
  createTestClient,
  createWalletClient,
  type Hex,
  http,
  type LocalAccount,
  publicActions,
  toHex,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { outsideOf } from '#infra/demo/external'
import { type Person, personOf } from '#infra/demo/person'
import { walletWei } from '#infra/local/chain'
import { feeBid } from '#infra/local/fee-bid'
import { devKey } from '#infra/local/keys'
import type { RunningStack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { chainOf } from '#shared/chain/client'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { ausdOf } from './ledger'

export type Funds = { readonly ausdMicro?: bigint; readonly wei?: bigint }

export async function newUser(
  stack: RunningStack,
  has: Funds = {},
  signer: Hex | LocalAccount = generatePrivateKey(),
): Promise<Person> {
  const person = personOf(stack.info, signer)
  await fund(stack, person.account.address, has)
  return person
}

/**
 * Gives a wallet AUSD and coins in the chain's state. A mint would need the minter's next nonce, which suites in other
 * processes take, too.
 */
export async function fund(stack: RunningStack, wallet: Hex, has: Funds) {
  const { chain } = stack.info
  const client = createTestClient({
    mode: 'anvil',
    chain: chainOf(chain.chainId),
    transport: http(chain.rpcUrl),
  })
  if (has.wei !== 0n) await client.setBalance({ address: wallet, value: has.wei ?? walletWei })
  if (!has.ausdMicro) return
  const heldMicro = await ausdOf(stack, wallet)
  const params = [wallet, chain.ausd, toHex(heldMicro + has.ausdMicro)]
  await client.request({ method: 'anvil_dealERC20', params } as never)
}

/** Returns a user whose verification is final on the chain. */
export async function verifiedUser(stack: RunningStack, has: Funds = {}): Promise<Person> {
  const person = await newUser(stack, has)
  await outsideOf(stack.info).identity(person.wallet, 'approved')
  await person.until('verification', (me) => me.verified)
  return person
}

export const verifiedUsers = (stack: RunningStack, count: number, has?: Funds): Promise<Person[]> =>
  Promise.all(Array.from({ length: count }, () => verifiedUser(stack, has)))

/** Returns a new account with native coin. */
export async function newCaller(stack: RunningStack) {
  const privateKey = generatePrivateKey()
  const caller = callerOf(stack, privateKey)
  await fund(stack, caller.account.address, {})
  return caller
}

/** Returns the caller of a key, with which no other process may send at the same time. */
export function callerOf({ info: { chain } }: RunningStack, privateKey: Hex) {
  const account = privateKeyToAccount(privateKey)
  const client = createWalletClient({
    account,
    chain: chainOf(chain.chainId),
    transport: http(chain.rpcUrl),
  }).extend(publicActions)
  const mined = async (what: string, hash: Hex) => {
    const receipt = await waitUntil(`${what} to be mined`, () =>
      client.getTransactionReceipt({ hash }).catch(() => undefined),
    )
    if (receipt.status !== 'success') throw new Error(`${what} reverted`)
    return receipt
  }
  const send = async (address: string, abi: Abi, functionName: string, args: readonly unknown[]) => {
    const call = { address: address as Hex, abi, functionName, args, gas: 500_000n }
    return mined(functionName, await client.writeContract({ ...call, ...(await feeBid(client)) }))
  }
  return {
    account,
    send,
    call: (functionName: string, args: readonly unknown[]) => send(chain.creditLine, creditLineAbi, functionName, args),
    deploy: async (abi: Abi, bytecode: Hex, args: readonly unknown[]): Promise<Hex> => {
      const contract = { abi, bytecode, args, gas: 1_000_000n, ...(await feeBid(client)) }
      const receipt = await mined('a deployment', await client.deployContract(contract))
      return receipt.contractAddress!
    },
  }
}

/** Mints AUSD with its event, which the treasury's books need. It may only be used on a stack of one suite. */
export const mint = (stack: RunningStack, wallet: Hex, micro: bigint) =>
  callerOf(stack, devKey('admin')).send(stack.info.chain.ausd, ausdAbi, 'mint', [wallet, micro])

/** Spends AUSD with the treasury's own key, under the same condition as `mint`. */
export async function spendTreasury(stack: RunningStack, micro: bigint) {
  const { ausd, treasury } = stack.info.chain
  await fund(stack, treasury as Hex, {})
  const nowhere = '0x000000000000000000000000000000000000dEaD'
  await callerOf(stack, devKey('treasury')).send(ausd, ausdAbi, 'transfer', [nowhere, micro])
}
