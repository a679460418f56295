import type { Static } from 'typebox'
import { type Hex, multicall3Abi, type PublicClient } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { refOf } from '#shared/chain/ref'
import type { ChainHold } from '#shared/messages/chain'
import type { Account, Context } from '../context'
import { blockOfRef } from '../operations/operation.store'

export const multicall3 = '0xcA11bde05977b3631167028862bE2a173976CA11'
export const multicallAbi = [
  {
    type: 'function',
    name: 'getEthBalance',
    stateMutability: 'view',
    inputs: [{ name: 'addr', type: 'address' }],
    outputs: [{ name: 'balance', type: 'uint256' }],
  },
  {
    type: 'function',
    name: 'getBlockNumber',
    stateMutability: 'view',
    inputs: [],
    outputs: [{ name: 'blockNumber', type: 'uint256' }],
  },
] as const

/** Reads one wallet: all of it, and all wallets asked for within 2 ms, in one call at one block. */
async function readAccount(
  reader: PublicClient,
  contracts: { ausd: Hex; creditLine: Hex },
  wallet: Hex,
): Promise<Account> {
  const { ausd, creditLine } = contracts
  const abi = multicallAbi
  const [line, ausdMicro, nativeWei, blockNumber] = await Promise.all([
    reader.readContract({
      address: creditLine,
      abi: creditLineAbi,
      functionName: 'accountOf',
      args: [wallet],
    }),
    reader.readContract({
      address: ausd,
      abi: ausdAbi,
      functionName: 'balanceOf',
      args: [wallet],
    }),
    reader.readContract({
      address: multicall3,
      abi,
      functionName: 'getEthBalance',
      args: [wallet],
    }),
    reader.readContract({ address: multicall3, abi, functionName: 'getBlockNumber' }),
  ])
  return {
    wallet,
    verified: line.verified,
    defaulted: line.defaulted,
    frozen: line.frozen,
    score: String(line.score),
    ratioBps: String(line.ratioBps),
    cycles: Number(line.cycles),
    collateral: {
      value: String(line.collateral),
      shares: String(line.shares),
      pendingShares: String(line.pendingShares),
      pendingUntil: timeOrNull(line.pendingUntil),
    },
    limit: String(line.limit),
    drawn: String(line.drawn),
    encumbered: String(line.encumbered),
    encumberedUntil: timeOrNull(line.encumberedUntil),
    available: String(line.available),
    balance: { ausd: String(ausdMicro), native: String(nativeWei) },
    blockNumber: String(blockNumber),
  }
}

/** Questions about one wallet that come while its call is being gathered share that call. */
export function accountReader(
  reader: PublicClient,
  contracts: { ausd: Hex; creditLine: Hex },
): Context['account'] {
  const gathering = new Map<string, Promise<Account>>()
  return (wallet) => {
    const known = gathering.get(wallet)
    if (known) return known
    const reading = readAccount(reader, contracts, wallet)
    gathering.set(wallet, reading)
    // Only until the call is on its way: a later question wants a later block.
    setTimeout(() => gathering.delete(wallet), shareMs)
    return reading
  }
}

const shareMs = 2

export type Hold = Static<(typeof ChainHold)['answer']>

/** `HoldState` of the contract, by its number. */
const holdStates = ['none', 'held', 'released', 'revoked'] as const

/**
 * The hold under a ref id and the chain's clock, in one call: they are of the same block. Undefined:
 * the endpoint lags behind the payment itself, so that it would say `none` of money that is held.
 */
export async function readHold(
  { node, contracts, database }: Context,
  refId: string,
): Promise<Hold | undefined> {
  const line = { address: contracts.creditLine, abi: creditLineAbi } as const
  const [[, , , until, number], blockTime, blockNumber] = await node.reader.multicall({
    allowFailure: false,
    contracts: [
      { ...line, functionName: 'holdOf', args: [refOf(refId)] },
      { address: multicall3, abi: multicall3Abi, functionName: 'getCurrentBlockTimestamp' },
      { address: multicall3, abi: multicallAbi, functionName: 'getBlockNumber' },
    ],
  })
  if (blockNumber < (await database.read((db) => blockOfRef(db, refId)))) return undefined
  const state = holdStates[number]
  // Another contract than the one we know: no answer is better than a guess.
  if (!state) throw new Error(`holdOf answered the state ${number}, which has no name here`)
  return { state, until: timeOrNull(until), blockTime: String(blockTime) }
}

/** The contract says 0 where no time is meant. */
const timeOrNull = (seconds: bigint): string | null => (seconds === 0n ? null : String(seconds))
