import type { Address } from 'viem'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import type { Node } from './node'

/**
 * The block in which the credit line began: halves the blocks between without and with code, then
 * checks that its constructor's `RoleGranted` is there, because a node without old states may
 * answer anything for them. Null: the node cannot tell.
 */
export async function findDeployBlock(
  { reader }: Pick<Node, 'reader'>,
  address: Address,
): Promise<number | null> {
  try {
    let without = -1n
    let withCode = await reader.getBlockNumber()
    while (withCode - without > 1n) {
      const middle = (without + withCode) / 2n
      if (await reader.getCode({ address, blockNumber: middle })) withCode = middle
      else without = middle
    }
    const granted = await reader.getContractEvents({
      ...{ address, abi: creditLineAbi, eventName: 'RoleGranted' },
      ...{ fromBlock: withCode, toBlock: withCode },
    })
    return granted.length > 0 ? Number(withCode) : null
  } catch {
    return null
  }
}
