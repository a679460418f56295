import type { Static } from 'typebox'
import { BaseError, type Hex, multicall3Abi, type PublicClient, zeroHash } from 'viem'
import { pause } from '#platform/deadline'
import { batchReads } from '#platform/reads'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { openNewest } from '#shared/chain/heads'
import { refOf } from '#shared/chain/ref'
import type { ChainHold } from '#shared/messages/chain'
import { multicall3, multicallAbi } from '../chain/multicall'
import type { AccountAnswer, Context } from '../context'
import { blockOfRef, ordersOfRef } from '../operations/operation.store'
import { decodeAccountCall, encodeAccountCall, type Pool, type WalletRead } from './account-call'

type Contracts = { readonly ausd: Hex; readonly creditLine: Hex }

/** Most wallets per call, limited by the gas of public endpoints and by 16 KiB of call data. */
const walletsMax = 80

/** Most tries of a read, because several nodes may stand behind one address and some of them lag. */
const triesMax = 5
const triesRestMs = 100

/**
 * Reads accounts at a block that is not older than one already shown to users. Throws if every try meets an older
 * block.
 */
async function readSome(
  { reader, contracts, newest }: StateReader,
  wallets: readonly Hex[],
): Promise<[Hex, AccountAnswer][]> {
  for (let tries = 1; ; tries++) {
    const { data } = await reader.call({ to: multicall3, data: encodeAccountCall(contracts, wallets) })
    const { reads, ...all } = decodeAccountCall(data, wallets.length)
    if (newest.take(all.blockNumber))
      return wallets.flatMap((wallet, at): [Hex, AccountAnswer][] => {
        const read = reads[at]
        return read ? [[wallet, shown(wallet, read, all)]] : []
      })
    if (tries === triesMax) throw new BaseError(`only older blocks than ${newest.number()} are read`)
    await pause(triesRestMs)
  }
}

type StateReader = {
  readonly reader: PublicClient
  readonly contracts: Contracts
  readonly newest: ReturnType<typeof openNewest>
}

/** Returns the value of shares in 10⁻⁶ AUSD, with the virtual shares and unit of the contract's pool. */
export const ausdOfSharesFloor = (shares: bigint, pool: Pool): bigint =>
  (shares * (pool.collateralMicro + 1n)) / (pool.shares + 1_000_000n)

const shown = (
  wallet: Hex,
  { line, ausdMicro, nativeWei, autoRepay }: WalletRead,
  { pool, blockNumber, blockTime, paused }: Omit<ReturnType<typeof decodeAccountCall>, 'reads'>,
): AccountAnswer => ({
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
  cycle: cycleOf(line),
  autoRepay: permissionOf(autoRepay),
  paused,
  blockNumber: String(blockNumber),
  blockTime: String(blockTime),
})

const cycleOf = ({ cycles, openedAt, dueAt, defaultsAt }: WalletRead['line']): AccountAnswer['cycle'] =>
  openedAt === 0n
    ? null
    : {
        number: Number(cycles) + 1,
        openedAt: String(openedAt),
        dueAt: String(dueAt),
        defaultsAt: String(defaultsAt),
      }

const permissionOf = (autoRepay: WalletRead['autoRepay']): NonNullable<AccountAnswer['autoRepay']> | null =>
  autoRepay && autoRepay.maxPerCycle > 0n
    ? {
        maxPerCycle: String(autoRepay.maxPerCycle),
        source: autoRepay.fromCollateral ? 'collateral' : 'wallet',
        taken: String(autoRepay.taken),
        startsAt: timeOrNull(autoRepay.startsAt),
      }
    : null

/** Longest wait for the previous call, in ms, because it may hang. */
const patienceMs = 150

/**
 * Returns a reader of accounts. Requests that arrive during a call share the next one, so no answer is older than its
 * request.
 */
export function accountReader(reader: PublicClient, contracts: Contracts) {
  const reading = { reader, contracts, newest: openNewest(() => performance.now()) }
  const readAll = batchReads(async (wallets: ReadonlySet<Hex>) => {
    const all = [...wallets]
    const calls: Promise<[Hex, AccountAnswer][]>[] = []
    for (let from = 0; from < all.length; from += walletsMax)
      calls.push(readSome(reading, all.slice(from, from + walletsMax)))
    return new Map((await Promise.all(calls)).flat())
  }, patienceMs)
  return async (wallet: Hex): Promise<AccountAnswer> => {
    const account = (await readAll(wallet)).get(wallet)
    if (!account) throw new BaseError(`the account of ${wallet} could not be read`)
    return account
  }
}

export type Hold = Static<(typeof ChainHold)['answer']>

/** `HoldState` of the contract, by number. */
const holdStates = ['none', 'held', 'released', 'revoked'] as const

/**
 * Reads the hold of a payment. Returns undefined if the endpoint lags behind the payment, because it would report
 * `none` for held money.
 */
export async function readHold({ node, contracts, database }: Context, refId: string): Promise<Hold | undefined> {
  const line = { address: contracts.creditLine, abi: creditLineAbi } as const
  const [[, , , , until, number], blockTime, blockNumber] = await node.reader.multicall({
    allowFailure: false,
    contracts: [
      { ...line, functionName: 'holdOf', args: [refOf(refId)] },
      { address: multicall3, abi: multicall3Abi, functionName: 'getCurrentBlockTimestamp' },
      { address: multicall3, abi: multicallAbi, functionName: 'getBlockNumber' },
    ],
  })
  if (blockNumber < (await database.read((db) => blockOfRef(db, refId)))) return undefined
  const state = holdStates[number]
  if (!state) throw new Error(`holdOf returned the unknown state ${number}`)
  return { state, until: timeOrNull(until), blockTime: String(blockTime) }
}

/** Reads the state of a ref id. Returns undefined if the endpoint lags behind the use of the ref id. */
export async function readRef(
  { node, contracts, database }: Context,
  refId: string,
): Promise<'unused' | 'ordered' | 'used' | undefined> {
  // Rows are read first, so that an order that ends after this read is already on the chain.
  const { block, isOpen } = await database.read((db) => ordersOfRef(db, refId))
  const line = { address: contracts.creditLine, abi: creditLineAbi } as const
  const [content, blockNumber] = await node.reader.multicall({
    allowFailure: false,
    contracts: [
      { ...line, functionName: 'refUsed', args: [refOf(refId)] },
      { address: multicall3, abi: multicallAbi, functionName: 'getBlockNumber' },
    ],
  })
  if (content !== zeroHash) return 'used'
  if (isOpen) return 'ordered'
  return blockNumber < block ? undefined : 'unused'
}

const timeOrNull = (seconds: bigint): string | null => (seconds === 0n ? null : String(seconds))
