import { creditLineAbi, okOf } from 'ausd-credit-client'
import { erc20Abi, maxUint256 } from 'viem'
import { chain, ended, fees, terms } from './chain'
import { account, client } from './setup'

const most = 10_000_000n // For each cycle, in 10⁻⁶ AUSD.
const fromCollateral = false

const limits = terms.gasLimits
if (!limits.setAutoRepay || !limits.approve) throw new Error('this credit line cannot repay automatically')
const common = { account, chain: null }

// From the wallet, the credit line needs an allowance, which each repayment uses up unless it is without end.
const token = { address: terms.ausd.address, abi: erc20Abi } as const
const parties = [account.address, terms.creditLine] as const
const allowance = await chain.readContract({ ...token, functionName: 'allowance', args: parties })
if (!fromCollateral && allowance < most) {
  const gas = BigInt(limits.approve)
  const approve = { ...token, functionName: 'approve', args: [terms.creditLine, maxUint256] } as const
  const hash = await chain.writeContract({ ...common, ...approve, gas, ...(await fees(gas)) })
  if ((await ended(hash)) !== 'success') throw new Error('the approval was not made')
}

const allow = {
  address: terms.creditLine,
  abi: creditLineAbi,
  functionName: 'setAutoRepay',
  args: [most, fromCollateral],
} as const
await chain.simulateContract({ account, ...allow })
const gas = BigInt(limits.setAutoRepay)
const hash = await chain.writeContract({ ...common, ...allow, gas, ...(await fees(gas)) })
const status = await ended(hash)
const { autoRepay } = okOf(await client.me())
console.log(`automatic repayment: ${status}, from ${autoRepay?.source}, at most ${autoRepay?.maxPerCycle}`)
