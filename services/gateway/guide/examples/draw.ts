import { creditLineAbi, okOf } from 'ausd-credit-client'
import { chain, fees, terms } from './chain'
import { account, client } from './setup'

const { available } = okOf(await client.me())
console.log(`up to ${available} can be drawn`)

const draw = {
  account,
  address: terms.creditLine,
  abi: creditLineAbi,
  functionName: 'draw',
  args: [3_000_000n, account.address],
} as const
await chain.simulateContract(draw) // Throws the contract's own reason, and costs nothing.

const gas = BigInt(terms.gasLimits.draw) // The chain charges the limit, whatever is used.
const hash = await chain.writeContract({ ...draw, chain: null, gas, ...(await fees()) })
const { status } = await chain.waitForTransactionReceipt({ hash })
console.log(`draw: ${status}`)
