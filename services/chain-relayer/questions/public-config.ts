import type { Static } from 'typebox'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { userGasLimits } from '#shared/chain/gas'
import { autoRepayVersion } from '#shared/chain/line-version'
import type { ChainTerms } from '#shared/messages/chain'
import type { Context } from '../context'
import { leftMinSeconds } from '../operations/operation'

type ContractTerms = Static<(typeof ChainTerms)['answer']>

/** Returns a reader of the contract terms, which never change, so they are read once. */
export function publicConfigReader(context: Pick<Context, 'node' | 'contracts' | 'treasury' | 'settings'>) {
  let known: Promise<ContractTerms> | undefined
  return (): Promise<ContractTerms> => {
    known ??= readTerms(context).catch((error) => {
      known = undefined
      throw error
    })
    return known
  }
}

async function readTerms({
  node,
  contracts,
  treasury,
  settings,
}: Pick<Context, 'node' | 'contracts' | 'treasury' | 'settings'>): Promise<ContractTerms> {
  const { domain, ausd, creditLine } = contracts
  const line = { address: creditLine, abi: creditLineAbi } as const
  const [decimals, hold, minCycle, minDebt, term, grace, ratio, version] = await node.reader.multicall({
    allowFailure: false,
    contracts: [
      { address: ausd, abi: ausdAbi, functionName: 'decimals' },
      { ...line, functionName: 'holdSeconds' },
      { ...line, functionName: 'minCycleSeconds' },
      { ...line, functionName: 'minDebt' },
      { ...line, functionName: 'termSeconds' },
      { ...line, functionName: 'graceSeconds' },
      { ...line, functionName: 'initialRatioBps' },
      { ...line, functionName: 'version' },
    ],
  })
  return {
    chainId: domain.chainId,
    ausd: { address: ausd, decimals, domain },
    creditLine,
    treasury: treasury.address,
    holdSeconds: Number(hold),
    cycle: {
      minSeconds: Number(minCycle),
      minDebt: minDebt.toString(),
      termSeconds: Number(term),
      graceSeconds: Number(grace),
    },
    initialRatioBps: ratio.toString(),
    sendValidBeforeSecondsMin: Number(leftMinSeconds),
    dripWei: String(settings.dripWei),
    gasLimits: userGasOf(version),
  }
}

/** Returns the gas limits of the calls that users send themselves, of those that this version of the credit line has. */
export const userGasOf = (version: bigint): ContractTerms['gasLimits'] => ({
  draw: userGasLimits.draw.toString(),
  repay: userGasLimits.repay.toString(),
  repayWithPermit: userGasLimits.repayWithPermit.toString(),
  repayFromCollateral: userGasLimits.repayFromCollateral.toString(),
  withdrawCollateral: userGasLimits.withdrawCollateral.toString(),
  ...(version >= autoRepayVersion && {
    setAutoRepay: userGasLimits.setAutoRepay.toString(),
    approve: userGasLimits.approve.toString(),
  }),
})
