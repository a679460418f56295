import { creditLineAbi, okOf } from 'ausd-credit-client'
import { erc20Abi } from 'viem'
import { chain, ended, fees, terms } from './chain'
import { account, client } from './setup'

const amount = 1_000_000n // The unit is 10⁻⁶ AUSD. The contract takes at most the debt.
const common = { account, chain: null }

// This lets the credit line take the amount. The gas for `approve` is constant, so viem's estimate is enough.
const approve = {
  address: terms.ausd.address,
  abi: erc20Abi,
  functionName: 'approve',
  args: [terms.creditLine, amount],
} as const
const approveGas = await chain.estimateContractGas({ account, ...approve })
const approved = await chain.writeContract({ ...common, ...approve, gas: approveGas, ...(await fees(approveGas)) })
if ((await ended(approved)) !== 'success') throw new Error('the approval was not made')

const repay = {
  address: terms.creditLine,
  abi: creditLineAbi,
  functionName: 'repay',
  args: [amount],
} as const
await chain.simulateContract({ account, ...repay })
const gas = BigInt(terms.gasLimits.repay)
const hash = await chain.writeContract({ ...common, ...repay, gas, ...(await fees(gas)) })
const status = await ended(hash)
console.log(`repay: ${status}, owed now: ${okOf(await client.me()).drawn}`)
