import { type Address, encodeDeployData, encodeFunctionData, type Hex, maxUint256 } from 'viem'
import { ausdBytecode, creditLineBytecode } from '#infra/contracts/artifacts.gen'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { type LaneRole, roleHash } from '#shared/chain/lane-roles'
import type { WantedDeployment } from './wanted'

/** Step of a deployment. The first two are anvil methods, not transactions. */
export type DeployStep =
  | { readonly do: 'give_native'; readonly to: Address }
  | { readonly do: 'install_multicall3' }
  | SentStep
export type SentStep =
  | { readonly do: 'deploy_ausd' }
  | { readonly do: 'deploy_credit_line' }
  | { readonly do: 'grant'; readonly role: LaneRole; readonly to: Address }
  | { readonly do: 'approve_credit_line' }
  | { readonly do: 'mint'; readonly to: Address; readonly amountMicro: bigint }
  | { readonly do: 'approve_funding'; readonly amountMicro: bigint }
  | { readonly do: 'fund_liquidity'; readonly amountMicro: bigint }

/** Transaction of a step. Without `to` it creates a contract. */
export type DeployCall = { readonly from: Address; readonly to?: Address; readonly data: Hex }
export type KnownAddresses = { readonly ausd?: Address; readonly creditLine?: Address }

/**
 * Returns an upper bound of a step's gas on Monad, for planning funds. The limit that is sent is an estimate, because
 * Monad charges the limit.
 */
export const gasReckoned = (step: SentStep): bigint => {
  if (step.do === 'deploy_ausd') return 3_000_000n
  // Two contracts of 37 KB in total, at 200 gas per byte, took 7.7 million on an anvil.
  return step.do === 'deploy_credit_line' ? 12_000_000n : 200_000n
}

export const senderOf = (step: SentStep, wanted: WantedDeployment): Address =>
  step.do === 'approve_credit_line' ? wanted.treasury : wanted.admin

export function callOf(step: SentStep, places: KnownAddresses, wanted: WantedDeployment): DeployCall {
  const from = senderOf(step, wanted)
  switch (step.do) {
    case 'deploy_ausd':
      return {
        from,
        data: encodeDeployData({ abi: ausdAbi, bytecode: ausdBytecode, args: [from] }),
      }
    case 'deploy_credit_line':
      return { from, data: creditLineCode(wanted, there(places.ausd)) }
    case 'grant':
      return { from, to: there(places.creditLine), data: grantData(step.role, step.to) }
    case 'approve_credit_line':
      return approval(from, places, maxUint256)
    case 'approve_funding':
      return approval(from, places, step.amountMicro)
    case 'mint': {
      const args = [step.to, step.amountMicro] as const
      const data = encodeFunctionData({ abi: ausdAbi, functionName: 'mint', args })
      return { from, to: there(places.ausd), data }
    }
    case 'fund_liquidity': {
      const args = [step.amountMicro] as const
      const data = encodeFunctionData({ abi: creditLineAbi, functionName: 'fundLiquidity', args })
      return { from, to: there(places.creditLine), data }
    }
  }
}

export const grantData = (role: LaneRole, account: Address): Hex =>
  encodeFunctionData({
    abi: creditLineAbi,
    functionName: 'grantRole',
    args: [roleHash(role), account],
  })

function approval(from: Address, places: KnownAddresses, amountMicro: bigint): DeployCall {
  const args = [there(places.creditLine), amountMicro] as const
  const data = encodeFunctionData({ abi: ausdAbi, functionName: 'approve', args })
  return { from, to: there(places.ausd), data }
}

const creditLineCode = ({ admin, treasury, terms }: WantedDeployment, token: Address): Hex =>
  encodeDeployData({
    abi: creditLineAbi,
    bytecode: creditLineBytecode,
    args: [{ token, treasury, admin, ...terms }],
  })

function there(place: Address | undefined): Address {
  if (!place) throw new Error('this step needs a contract that is not deployed yet')
  return place
}
