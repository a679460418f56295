import type { Address } from 'viem'
import { devKey } from '#infra/local/keys'
import type { RunningStack, Stack } from '#infra/local/stack'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { readerOf } from '../support/ledger'
import { callerOf } from '../support/people'

/** Changes the value of a share, as the contract's administrator, by adding 10⁻⁶ AUSD. */
export async function addYield(stack: RunningStack, micro: bigint): Promise<void> {
  const { ausd, creditLine } = stack.info.chain
  const admin = callerOf(stack, devKey('admin'))
  await admin.send(ausd, ausdAbi, 'mint', [admin.account.address, micro])
  await admin.send(ausd, ausdAbi, 'approve', [creditLine, micro])
  await admin.call('addYield', [micro])
}

/** Returns the collateral of all users in 10⁻⁶ AUSD. */
export const collateralOf = (stack: Stack): Promise<bigint> =>
  readerOf(stack).readContract({
    address: stack.info.chain.creditLine as Address,
    abi: creditLineAbi,
    functionName: 'totalCollateral',
  })
