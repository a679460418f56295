import type { Address } from 'viem'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import type { DeployNode } from './node'

/**
 * Finds the block of a deployment. Its `RoleGranted` event must confirm the result, because a node without historical
 * state may return anything. Returns null if the node cannot answer.
 */
export async function findDeployBlock(
  { reader }: Pick<DeployNode, 'reader'>,
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
      address,
      abi: creditLineAbi,
      eventName: 'RoleGranted',
      fromBlock: withCode,
      toBlock: withCode,
    })
    return granted.length > 0 ? Number(withCode) : null
  } catch {
    return null
  }
}
