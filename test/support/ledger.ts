import { type Address, erc20Abi, parseAbiItem } from 'viem'
import type { RunningStack } from '#infra/local/stack'
import { openChainReader } from '#shared/chain/client'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { openRpcEndpoints } from '#shared/chain/endpoints'
import { refOf } from '#shared/chain/ref'

const hour = 3_600
/** Returns the next time, in unix seconds, at which it is 03:00 in Malaysia (UTC+8), and afternoon in all of Brazil. */
export const nextNightInMalaysia = (after: number): number => {
  const noon = Math.ceil((after - 4 * hour) / (24 * hour)) * 24 * hour + 4 * hour
  return noon + 15 * hour
}

export type Credit = { wallet: string; ausdMicro: bigint; held: boolean }

export const readerOf = (stack: RunningStack) =>
  openChainReader({
    endpoints: openRpcEndpoints({ rpcUrls: [stack.info.chain.rpcUrl] }),
    chainId: stack.info.chain.chainId,
    timeoutMs: 10_000,
  })

export const chainSeconds = async (stack: RunningStack): Promise<number> =>
  Number((await readerOf(stack).getBlock()).timestamp)

/** Returns the credits of a payment, for which it reads only the contract's events. */
export async function creditsOf(stack: RunningStack, paymentId: string): Promise<Credit[]> {
  const logs = await readerOf(stack).getContractEvents({
    address: stack.info.chain.creditLine as Address,
    abi: creditLineAbi,
    eventName: 'CollateralAdded',
    args: { ref: refOf(paymentId) },
    fromBlock: 0n,
    strict: true,
  })
  return logs.map(({ args }) => ({
    wallet: args.account.toLowerCase(),
    ausdMicro: args.amount,
    held: args.heldUntil > 0n,
  }))
}

/** Returns the AUSD (10⁻⁶) of a wallet. */
export const ausdOf = (stack: RunningStack, wallet: Address): Promise<bigint> =>
  readerOf(stack).readContract({
    address: stack.info.chain.ausd as Address,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [wallet],
  })

/** Returns the AUSD (10⁻⁶) of a wallet that the credit line may take. */
export const allowanceOf = (stack: RunningStack, wallet: Address): Promise<bigint> =>
  readerOf(stack).readContract({
    address: stack.info.chain.ausd as Address,
    abi: erc20Abi,
    functionName: 'allowance',
    args: [wallet, stack.info.chain.creditLine as Address],
  })

export type Move = { from: string; to: string; ausdMicro: bigint; txHash: string }

/** Returns the transfers of a wallet, without mints. */
export async function transfersOf(stack: RunningStack, wallet: Address): Promise<Move[]> {
  const read = (args: { from?: Address; to?: Address }) =>
    readerOf(stack).getLogs({
      address: stack.info.chain.ausd as Address,
      event: parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)'),
      args,
      fromBlock: 0n,
      strict: true,
    })
  const logs = [...(await read({ from: wallet })), ...(await read({ to: wallet }))]
  return logs
    .filter((log) => BigInt(log.args.from) !== 0n)
    .map((log) => ({
      from: log.args.from.toLowerCase(),
      to: log.args.to.toLowerCase(),
      ausdMicro: log.args.value,
      txHash: log.transactionHash,
    }))
}

export async function timesOf(
  stack: RunningStack,
  eventName: 'Repaid' | 'TopUpRevoked',
  paymentId: string,
): Promise<number> {
  const logs = await readerOf(stack).getContractEvents({
    address: stack.info.chain.creditLine as Address,
    abi: creditLineAbi,
    eventName,
    args: { ref: refOf(paymentId) },
    fromBlock: 0n,
  })
  return logs.length
}
