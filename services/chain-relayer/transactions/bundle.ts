import pMap from 'p-map'
import { decodeFunctionResult, encodeFunctionData, type Hex, multicall3Abi } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { bundleGasLimit, gasLimits } from '#shared/chain/gas'
import { multicall3, multicallAbi } from '../chain/multicall'
import type { Context } from '../context'
import type { Operation } from '../operations/operation.table'
import { costWei, type Funds } from './funding'
import { type RoundTerms, runsOut } from './preflight'
import { bundled, isSigned, runsForeignCode, type SignedOperation } from './transaction'

// Any sender may submit an authorization, so transfers of plain accounts share a transaction and a simulation. A
// transfer that would fail is examined alone.

export type Bundle = { readonly operations: readonly SignedOperation[]; readonly funds: Funds }

const examineAtOnce = 4

export async function bundlesOf(context: Context, due: readonly Operation[], terms: RoundTerms): Promise<Bundle[]> {
  const { batchMax } = context.settings
  if (batchMax < 2) return []
  const fit: SignedOperation[] = []
  for (const operation of due) if (await mayShare(context, operation, terms)) fit.push(operation as SignedOperation)
  if (fit.length < 2) return []
  const size = bundleMax(batchMax, terms)
  if (size < 2) return []
  const groups = Array.from({ length: Math.ceil(fit.length / size) }, (_, at) => fit.slice(at * size, (at + 1) * size))
  const bundles = await pMap(groups, (group) => simulate(context, group, terms), {
    concurrency: examineAtOnce,
  })
  return bundles.filter(({ operations }) => operations.length > 0)
}

/**
 * Returns how many transfers a lane can pay for in one bundle, or `batchMax` if none can pay for even one transfer. Nodes
 * require that the sender of the simulation could pay for its gas, which is more than that of the bundle.
 */
function bundleMax(batchMax: number, { canSend }: RoundTerms): number {
  if (!canSend(gasLimits.transferWithAuthorization)) return batchMax
  let size = batchMax
  while (size > 1 && !canSend(simulationGas(size, size))) size -= 1
  return size
}

/** Returns true if the transfer has never failed and runs no user-controlled code. */
const mayShare = async (context: Context, operation: Operation, { newest }: RoundTerms) =>
  isSigned(operation) &&
  operation.tries === 0 &&
  !runsOut(context, operation, newest) &&
  !(await runsForeignCode(context, operation))

/** Gas for one read, more than it costs. */
const readGas = 60_000n

/** Returns the gas of a simulated bundle, which also reads the number of the block and the balances of the wallets. */
const simulationGas = (transfers: number, wallets: number): bigint =>
  bundleGasLimit(transfers) + readGas * BigInt(wallets + 1)

async function simulate(
  context: Context,
  group: readonly SignedOperation[],
  { senderOf, fees }: RoundTerms,
): Promise<Bundle> {
  const { ausd } = context.contracts
  const wallets = [...new Set(group.map(({ wallet }) => wallet))]
  const reads = [blockNumberRead, ...wallets.map((wallet) => balanceRead(ausd, wallet))]
  const calls = [...reads, ...group.map((operation) => bundled(ausd, operation))]
  const data = encodeFunctionData({ ...aggregate3, args: [calls] })
  const gas = simulationGas(group.length, wallets.length)
  const from = senderOf(costWei({ valueWei: 0n, gas }, fees))
  const answer = await context.node.call({ from, to: multicall3, data, gas, fees }, 'latest').catch((error) => {
    context.logThrottled.warn('bundle', { err: error }, 'bundle simulation failed')
    return { reverted: undefined }
  })
  if ('reverted' in answer) return { operations: [], funds: { ausdMicro: new Map(), blockNumber: 0n } }
  const results = decodeFunctionResult({ ...aggregate3, data: answer.returned })
  const [block, ...balances] = results.slice(0, reads.length).map((one) => BigInt(one.returnData))
  const outcomes = results.slice(reads.length)
  return {
    operations: group.filter((_, position) => outcomes[position]!.success),
    funds: {
      ausdMicro: new Map(wallets.map((wallet, position) => [wallet, balances[position]!])),
      blockNumber: block!,
    },
  }
}

const aggregate3 = { abi: multicall3Abi, functionName: 'aggregate3' } as const

const blockNumberRead = {
  target: multicall3,
  allowFailure: false,
  callData: encodeFunctionData({ abi: multicallAbi, functionName: 'getBlockNumber' }),
} as const

const balanceRead = (ausd: Hex, wallet: Hex) => ({
  target: ausd,
  allowFailure: false,
  callData: encodeFunctionData({ abi: ausdAbi, functionName: 'balanceOf', args: [wallet] }),
})
