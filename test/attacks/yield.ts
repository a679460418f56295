import { type Abi, type Address, createWalletClient, http, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { bid } from '#infra/local/fees'
import { devKey } from '#infra/local/keys'
import type { RunningStack, Stack } from '#infra/local/stack'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { chainOf } from '#shared/chain/client'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { waitUntil } from '../support/wait'
import { readerOf } from './fixture'

/**
 * Adds yield (10⁻⁶ AUSD) to the collateral of all users as the contract's administrator, so that a
 * share is worth another amount than before. Throws if a call reverts.
 */
export async function addYield({ info }: RunningStack, micro: bigint): Promise<void> {
  const { rpcUrl, chainId, ausd, creditLine } = info.chain
  const account = privateKeyToAccount(devKey('admin'))
  const chain = chainOf(chainId)
  const client = createWalletClient({ account, chain, transport: http(rpcUrl) }).extend(
    publicActions,
  )
  const send = async (address: string, abi: Abi, functionName: string, args: unknown[]) => {
    const call = { address: address as Address, abi, functionName, args, gas: 400_000n }
    const hash = await client.writeContract({ ...call, ...(await bid(client)) })
    const { status } = await waitUntil(`${functionName} being mined`, () =>
      client.getTransactionReceipt({ hash }).catch(() => undefined),
    )
    if (status !== 'success') throw new Error(`${functionName} reverted`)
  }
  await send(ausd, ausdAbi, 'mint', [account.address, micro])
  await send(ausd, ausdAbi, 'approve', [creditLine, micro])
  await send(creditLine, creditLineAbi, 'addYield', [micro])
}

/** Returns the collateral of all users (10⁻⁶ AUSD). */
export const collateralOf = (stack: Stack): Promise<bigint> =>
  readerOf(stack).readContract({
    address: stack.info.chain.creditLine as Address,
    abi: creditLineAbi,
    functionName: 'totalCollateral',
  })
