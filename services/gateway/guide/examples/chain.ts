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
  // Blocks arrive every 0.3 s; an idle local chain mines every 3 s.
  pollingInterval: 300,
}).extend(publicActions)

/** Returns fees for a gas limit: a tip that every node accepts, and room for the base fee to double if it can be paid. */
export async function fees(gas: bigint) {
  const [block, balance] = await Promise.all([chain.getBlock(), chain.getBalance(account)])
  const [baseFee, maxPriorityFeePerGas] = [block.baseFeePerGas ?? 0n, 1_000_000_000n]
  const [wanted, affordable] = [2n * baseFee + maxPriorityFeePerGas, balance / gas]
  const maxFeePerGas = affordable < wanted ? affordable : wanted
  if (maxFeePerGas < baseFee + maxPriorityFeePerGas) throw new Error('the wallet cannot pay the network fee')
  return { maxPriorityFeePerGas, maxFeePerGas }
}

/**
 * Waits for a transaction and returns how it ended. A user may replace a transaction in the wallet; viem then returns the
 * receipt of the other one.
 */
export async function ended(hash: `0x${string}`) {
  const { status, transactionHash } = await chain.waitForTransactionReceipt({ hash })
  return transactionHash === hash ? status : 'replaced'
}
