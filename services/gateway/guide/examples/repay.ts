import { creditLineAbi, okOf } from 'ausd-credit-client'
import { erc20Abi } from 'viem'
import { chain, ended, fees, terms } from './chain'
import { account, client } from './setup'

const amount = 1_000_000n // The unit is 10⁻⁶ AUSD. The contract takes at most the debt.
const common = { account, chain: null }

// This lets the credit line take the amount. A smaller allowance than before would end an automatic repayment.
const token = { address: terms.ausd.address, abi: erc20Abi } as const
const parties = [account.address, terms.creditLine] as const
if ((await chain.readContract({ ...token, functionName: 'allowance', args: parties })) < amount) {
  const approve = { ...token, functionName: 'approve', args: [terms.creditLine, amount] } as const
  const gas = await chain.estimateContractGas({ account, ...approve }) // It is constant, so an estimate is enough.
  const approved = await chain.writeContract({ ...common, ...approve, gas, ...(await fees(gas)) })
  if ((await ended(approved)) !== 'success') throw new Error('the approval was not made')
}

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
