import { okOf } from 'ausd-credit-client'
import { createWalletClient, http, publicActions } from 'viem'
import { account, client } from './setup'

/** The contract addresses, and the EIP-712 domain that binds a signed transfer to this token and chain. */
export const terms = okOf(await client.config()).chain
export const { domain } = terms.ausd

/** The user's wallet on the chain, at your own RPC endpoint. */
export const chain = createWalletClient({
  account,
  transport: http(process.env.RPC_URL),
  // Blocks arrive every 0.3 to 0.4 s; an idle local chain mines every 3 s.
  pollingInterval: 300,
}).extend(publicActions)

/** Returns fees with a tip that every node accepts and room for the base fee to double. */
export async function fees() {
  const { baseFeePerGas } = await chain.getBlock()
  const maxPriorityFeePerGas = 1_000_000_000n
  return { maxPriorityFeePerGas, maxFeePerGas: 2n * (baseFeePerGas ?? 0n) + maxPriorityFeePerGas }
}
