import { LRUCache } from 'lru-cache'
import type { Static } from 'typebox'
import { type Hex, multicall3Abi, type PublicClient } from 'viem'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { refOf } from '#shared/chain/ref'
import type { ChainHold } from '#shared/messages/chain'
import { batched } from '#shared/reads/reads'
import { isRecent } from '../chain/look'
import { multicall3, multicallAbi } from '../chain/multicall'
import type { Account, Context } from '../context'
import { blockOfRef } from '../operations/operation.store'
import { decodeReads, encodeReads, type Read } from './account-call'

type Contracts = { readonly ausd: Hex; readonly creditLine: Hex }

/** More would have more gas than public endpoints give one call, and more than 16 KiB of call data. */
const walletsMax = 80

/** Reads wallets: all of each, and all of them, in one call at one block. */
async function readSome(
  reader: PublicClient,
  contracts: Contracts,
  wallets: readonly Hex[],
): Promise<[Hex, Account][]> {
  const { data } = await reader.call({ to: multicall3, data: encodeReads(contracts, wallets) })
  const { reads, blockNumber } = decodeReads(data, wallets.length)
  return wallets.map((wallet, at) => [wallet, shown(wallet, reads[at]!, blockNumber)])
}

const shown = (wallet: Hex, { line, ausdMicro, nativeWei }: Read, block: bigint): Account => ({
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
  blockNumber: String(block),
})

/** So long a question waits for the call before its own, which may hang. */
const patienceMs = 150

/**
 * Reads wallets. Questions that come while one call is under way share the next, so that an endpoint
 * sees one after the other, however many are asked, and no answer is older than its question.
 */
function accountReader(reader: PublicClient, contracts: Contracts): Context['account'] {
  const readAll = batched(async (wallets: ReadonlySet<Hex>) => {
    const all = [...wallets]
    const calls: Promise<[Hex, Account][]>[] = []
    for (let from = 0; from < all.length; from += walletsMax)
      calls.push(readSome(reader, contracts, all.slice(from, from + walletsMax)))
    return new Map((await Promise.all(calls)).flat())
  }, patienceMs)
  return async (wallet) => {
    const account = (await readAll(wallet)).get(wallet)
    if (!account) throw new Error(`${wallet} was not among those that were read`)
    return account
  }
}

type Reading = {
  readonly account: Promise<Account>
  /** When the chain was asked, unix ms; undefined: not yet. */
  askedAt: number | undefined
  /** Undefined: not answered yet. */
  blockNumber: bigint | undefined
}

/** What is remembered is a moment old at most: more wallets are not asked for in one. */
const accountsMax = 10_000

/** What reading wallets takes, and when: without `gather` at once. */
type Reads = Pick<Context, 'node' | 'contracts' | 'clock'> & {
  readonly settings: Pick<Context['settings'], 'pollMs'>
  readonly memory: Pick<Context['memory'], 'look'>
  readonly gather?: Context['gather']
}

/** Half of a block's time: who has seen a block elsewhere finds it here a moment later. */
export const freshMs = ({ pollMs }: Pick<Context['settings'], 'pollMs'>) => pollMs / 2

/**
 * Reads wallets, each once a block or twice: an answer is given again for half of a block's time, or
 * until a newer block was seen. So whoever knows what is final finds it in the answer.
 */
export function openReads(reads: Reads): Pick<Context, 'account' | 'gather'> {
  const { node, contracts, clock, settings, memory, gather = () => Promise.resolve() } = reads
  const readOne = accountReader(node.reader, contracts)
  const readings = new LRUCache<string, Reading>({ max: accountsMax })
  const isFresh = ({ askedAt, blockNumber }: Reading) =>
    (askedAt === undefined || isRecent(askedAt, clock(), freshMs(settings))) &&
    (blockNumber === undefined || blockNumber >= (memory.look?.newest.number ?? 0n))
  const account: Context['account'] = (wallet) => {
    const last = readings.get(wallet)
    if (last && isFresh(last)) return last.account
    const read = async () => {
      await gather()
      reading.askedAt = clock()
      const known = await readOne(wallet)
      reading.blockNumber = BigInt(known.blockNumber)
      return known
    }
    const reading: Reading = { askedAt: undefined, blockNumber: undefined, account: read() }
    readings.set(wallet, reading)
    reading.account.catch(() => {
      if (readings.get(wallet) === reading) readings.delete(wallet)
    })
    return reading.account
  }
  return { account, gather }
}

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
