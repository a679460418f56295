import { okOf } from 'ausd-credit-client'
import { createWalletClient, http, publicActions } from 'viem'
import { account, client } from './setup'

/** Where the contracts are, and what a signed transfer is bound to: this token, on this chain. */
export const terms = okOf(await client.config()).chain
export const { domain } = terms.ausd

/** The chain, as the person's wallet uses it; viem has its own endpoint for chains that it knows. */
export const chain = createWalletClient({
  account,
  transport: http(process.env.RPC_URL),
  // A block comes every 0.3 to 0.4 s; on a local chain that nobody uses, every 3 s until it is used.
  pollingInterval: 300,
}).extend(publicActions)

/** What a transaction bids: a tip that every node takes, and room for the base fee to double. */
export async function fees() {
  const { baseFeePerGas } = await chain.getBlock()
  const maxPriorityFeePerGas = 1_000_000_000n
  return { maxPriorityFeePerGas, maxFeePerGas: 2n * (baseFeePerGas ?? 0n) + maxPriorityFeePerGas }
}
