import type { Static } from 'typebox'
import { type Hex, multicall3Abi, type PublicClient } from 'viem'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { refOf } from '#shared/chain/ref'
import type { ChainHold } from '#shared/messages/chain'
import { batched } from '#shared/reads/reads'
import { multicall3, multicallAbi } from '../chain/multicall'
import type { Account, Context } from '../context'
import { blockOfRef, ordersOfRef } from '../operations/operation.store'
import { decodeReads, encodeReads, type Pool, type Read } from './account-call'

type Contracts = { readonly ausd: Hex; readonly creditLine: Hex }

/**
 * More would have more gas than public endpoints give one call, and more than 16 KiB of call data.
 */
const walletsMax = 80

/** Reads wallets: all of each, and all of them, in one call at one block. */
async function readSome(
  reader: PublicClient,
  contracts: Contracts,
  wallets: readonly Hex[],
): Promise<[Hex, Account][]> {
  const { data } = await reader.call({ to: multicall3, data: encodeReads(contracts, wallets) })
  const { reads, ...all } = decodeReads(data, wallets.length)
  return wallets.map((wallet, at) => [wallet, shown(wallet, reads[at]!, all)])
}

/**
 * 10⁻⁶ AUSD that shares are worth, rounded down, as `ausdOfSharesFloor` of the contract has it:
 * with the virtual shares and the virtual unit of its pool.
 */
export const ausdOfSharesFloor = (shares: bigint, pool: Pool): bigint =>
  (shares * (pool.collateralMicro + 1n)) / (pool.shares + 1_000_000n)

const shown = (
  wallet: Hex,
  { line, ausdMicro, nativeWei }: Read,
  { pool, blockNumber }: { pool: Pool; blockNumber: bigint },
): Account => ({
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
    pendingValue: String(ausdOfSharesFloor(line.pendingShares, pool)),
    pendingUntil: timeOrNull(line.pendingUntil),
  },
  limit: String(line.limit),
  drawn: String(line.drawn),
  encumbered: String(line.encumbered),
  encumberedUntil: timeOrNull(line.encumberedUntil),
  available: String(line.available),
  balance: { ausd: String(ausdMicro), native: String(nativeWei) },
  blockNumber: String(blockNumber),
})

/** So long a question waits for the call before its own, which may hang. */
const patienceMs = 150

/**
 * Reads wallets. Questions that come while one call is under way share the next, so that an
 * endpoint sees one after the other, however many are asked, and no answer is older than its
 * question.
 */
export function accountReader(reader: PublicClient, contracts: Contracts) {
  const readAll = batched(async (wallets: ReadonlySet<Hex>) => {
    const all = [...wallets]
    const calls: Promise<[Hex, Account][]>[] = []
    for (let from = 0; from < all.length; from += walletsMax)
      calls.push(readSome(reader, contracts, all.slice(from, from + walletsMax)))
    return new Map((await Promise.all(calls)).flat())
  }, patienceMs)
  return async (wallet: Hex): Promise<Account> => {
    const account = (await readAll(wallet)).get(wallet)
    if (!account) throw new Error(`${wallet} was not among those that were read`)
    return account
  }
}

export type Hold = Static<(typeof ChainHold)['answer']>

/** `HoldState` of the contract, by its number. */
const holdStates = ['none', 'held', 'released', 'revoked'] as const

/**
 * The hold under a ref id and the chain's clock, in one call: they are of the same block.
 * Undefined: the endpoint lags behind the payment itself, so that it would say `none` of money that
 * is held.
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

const zero = `0x${'0'.repeat(64)}`

/**
 * What there is under a ref id: by the chain's newest block, or by an order of ours that is not
 * final. Undefined: the endpoint lags behind what was put there.
 */
export async function readRef(
  { node, contracts, database }: Context,
  refId: string,
): Promise<'unused' | 'ordered' | 'used' | undefined> {
  // Read first: an order that ends meanwhile is on the chain by then.
  const { block, isOpen } = await database.read((db) => ordersOfRef(db, refId))
  const line = { address: contracts.creditLine, abi: creditLineAbi } as const
  const [content, blockNumber] = await node.reader.multicall({
    allowFailure: false,
    contracts: [
      { ...line, functionName: 'refUsed', args: [refOf(refId)] },
      { address: multicall3, abi: multicallAbi, functionName: 'getBlockNumber' },
    ],
  })
  if (content !== zero) return 'used'
  if (isOpen) return 'ordered'
  return blockNumber < block ? undefined : 'unused'
}

/** The contract says 0 where no time is meant. */
const timeOrNull = (seconds: bigint): string | null => (seconds === 0n ? null : String(seconds))
