import { creditLineAbi, okOf } from 'ausd-credit-client'
import { chain, ended, fees, terms } from './chain'
import { account, client } from './setup'

const { available } = okOf(await client.me())
console.log(`available to draw: ${available}`)

const draw = {
  account,
  address: terms.creditLine,
  abi: creditLineAbi,
  functionName: 'draw',
  args: [3_000_000n, account.address],
} as const
await chain.simulateContract(draw) // The simulation costs nothing, and throws the contract's own error.

const gas = BigInt(terms.gasLimits.draw) // The chain charges the whole limit.
const hash = await chain.writeContract({ ...draw, chain: null, gas, ...(await fees(gas)) })
const status = await ended(hash)
console.log(`draw: ${status}`)
