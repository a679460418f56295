import { tipWei as maxPriorityFeePerGas } from '#shared/chain/gas'

/** Returns fees in wei per gas: a tip that every node accepts, and room for the base fee to double. */
export async function feeBid(chain: {
  getBlock: () => Promise<{ baseFeePerGas: bigint | null }>
}): Promise<{ maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }> {
  const { baseFeePerGas } = await chain.getBlock()
  return { maxFeePerGas: 2n * (baseFeePerGas ?? 0n) + maxPriorityFeePerGas, maxPriorityFeePerGas }
}
