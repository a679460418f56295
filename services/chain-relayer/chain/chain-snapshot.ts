import { type Hex, multicall3Abi } from 'viem'
import { type Clock, isRecent } from '#platform/clock'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { keptMs } from '#shared/chain/heads'
import { laneRoles, roleHash } from '#shared/chain/lane-roles'
import { multicall3, multicallAbi } from './multicall'
import type { Head, Node } from './node'

export type ChainSnapshot = {
  /** Time of the snapshot in Unix ms. */
  readonly at: number
  readonly newest: Pick<Head, 'number' | 'timestamp'>
  readonly finalized: Head
  /** When an endpoint last reported this block or a newer one, in Unix ms. */
  readonly reportedAt: number
  /** Native balances at the newest block, by lower-case address. */
  readonly balancesWei: ReadonlyMap<Hex, bigint>
  /** Lanes, in lower case, whose own calls a contract refuses, and why. */
  readonly refusedLanes: ReadonlyMap<Hex, LaneRefusal>
}

/** `frozen`: by the issuer of AUSD, whose token then refuses the lane's calls. `no_role`: on the credit line. */
export type LaneRefusal = 'frozen' | 'no_role'

type SnapshotMeans = {
  readonly node: Node
  readonly contracts: { readonly ausd: Hex; readonly creditLine: Hex }
  readonly clock: Clock
  readonly memory: { snapshot: ChainSnapshot | undefined }
  readonly settings: { readonly pollMs: number }
}

/**
 * Takes a snapshot with two calls, at most once per `POLL_MS`. Transactions are concluded only up to its finalized
 * block, so each is reflected either in a lane's balance or in its open transactions. A lagging endpoint does not move
 * that block back unless all endpoints lag for ten seconds, which means that the chain has lost blocks.
 */
export async function takeSnapshot(
  { node, contracts, clock, memory, settings }: SnapshotMeans,
  lanes: readonly Hex[],
): Promise<ChainSnapshot> {
  const last = memory.snapshot
  const isKnown = last && lanes.every((lane) => last.balancesWei.has(lane))
  if (isKnown && isRecent(last.at, clock(), settings.pollMs)) return last
  const at = clock()
  const [reported, newest] = await Promise.all([node.finalizedHead(), readNewest(node, contracts, lanes)])
  const isOlder = last && reported.number < last.finalized.number && isRecent(last.reportedAt, at, keptMs)
  const head = isOlder
    ? { finalized: last.finalized, reportedAt: last.reportedAt }
    : { finalized: reported, reportedAt: at }
  memory.snapshot = { at, ...head, ...newest }
  return memory.snapshot
}

/** Answers of a view that cannot be read, as a later version may lack it. The simulation of each operation still decides. */
const no = () => false
const yes = () => true
const roles = laneRoles.map(roleHash)

async function readNewest({ reader }: Node, { ausd, creditLine }: SnapshotMeans['contracts'], lanes: readonly Hex[]) {
  const there = { address: multicall3, abi: multicallAbi } as const
  const clock = { address: multicall3, abi: multicall3Abi } as const
  const token = { address: ausd, abi: ausdAbi } as const
  const line = { address: creditLine, abi: creditLineAbi } as const
  const hasRoles = async (lane: Hex) => {
    const has = (role: Hex) => reader.readContract({ ...line, functionName: 'hasRole', args: [role, lane] }).catch(yes)
    return (await Promise.all(roles.map(has))).every(Boolean)
  }
  const [number, timestamp, refusesFrozen, balances, frozen, able] = await Promise.all([
    reader.readContract({ ...there, functionName: 'getBlockNumber' }),
    reader.readContract({ ...clock, functionName: 'getCurrentBlockTimestamp' }),
    reader.readContract({ ...token, functionName: 'isMsgSenderFrozenCheckEnabled' }).catch(no),
    Promise.all(lanes.map((lane) => reader.readContract({ ...there, functionName: 'getEthBalance', args: [lane] }))),
    Promise.all(
      lanes.map((lane) => reader.readContract({ ...token, functionName: 'isAccountFrozen', args: [lane] }).catch(no)),
    ),
    Promise.all(lanes.map(hasRoles)),
  ])
  const balancesWei = new Map(lanes.map((lane, place) => [lane, balances[place]!]))
  const refusedLanes = new Map<Hex, LaneRefusal>()
  for (const [place, lane] of lanes.entries()) {
    if (!able[place]) refusedLanes.set(lane, 'no_role')
    else if (refusesFrozen && frozen[place]) refusedLanes.set(lane, 'frozen')
  }
  return { newest: { number, timestamp }, balancesWei, refusedLanes }
}
