import {
  type Address,
  encodeEventTopics,
  getAddress,
  type Hex,
  pad,
  parseEventLogs,
  type RpcLog,
} from 'viem'
import { finalizedBlock, type Node, openNode, readLogs } from '#infra/ops/chain-log'
import type { Place } from '#infra/ops/place'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'

const topicOf = (eventName: Parameters<typeof encodeEventTopics>[0]['eventName']): Hex =>
  encodeEventTopics({ abi: creditLineAbi, eventName } as never)[0] as Hex

/** Where the account stands among the indexed arguments of each event. */
const accountFirst = [
  'VerifiedSet',
  'CollateralWithdrawn',
  'CollateralSeized',
  'Drawn',
  'CycleOpened',
  'CycleClosed',
  'DefaultMarked',
].map(topicOf)
const accountSecond = ['CollateralAdded', 'TopUpRevoked', 'Repaid'].map(topicOf)
const outcomes = ['Qualified', 'Short', 'Late', 'Defaulted'] as const

type Event = ReturnType<typeof parseEvents>[number]
const parseEvents = (logs: RpcLog[]) => parseEventLogs({ abi: creditLineAbi, logs: logs as never })

/**
 * The public record of a wallet, computed from nothing but the chain at `finalized`: the figures
 * from `accountOf`, the history from the events, each event taken at its own word.
 */
export async function recordFromChain(place: Place, wallet: Address) {
  const node = openNode(place.rpcUrl)
  const to = await finalizedBlock(node)
  const events = await eventsOf(node, place, wallet, to)
  const account = await node.readContract({
    address: place.creditLine,
    abi: creditLineAbi,
    functionName: 'accountOf',
    args: [wallet],
    blockNumber: to,
  })
  const secondsOf = await timesOf(node, events)
  const history = historyOf(events, secondsOf)
  return {
    record: {
      account: getAddress(wallet),
      verified: account.verified,
      score: String(account.score),
      ratioBps: String(account.ratioBps),
      cycles: Number(account.cycles),
      defaulted: account.defaulted,
      history,
    },
    /** What the events leave standing, to be compared with `accountOf` at the same block. */
    fromEvents: {
      verified: last(events, 'VerifiedSet')?.args.verified ?? false,
      score: history.score,
      cycles: history.cycleCount,
      defaulted: history.defaulted,
      drawn: drawnAfter(events),
    },
    drawn: String(account.drawn),
    blockNumber: to,
  }
}
export type ChainRecord = Awaited<ReturnType<typeof recordFromChain>>

async function eventsOf(node: Node, place: Place, wallet: Address, to: bigint): Promise<Event[]> {
  const account = pad(wallet)
  const read = (topics: readonly (Hex | Hex[] | null)[]) =>
    readLogs(
      node,
      { address: place.creditLine, topics },
      { from: place.deployBlock, to },
      place.logsRangeMax,
    )
  const logs = [
    ...(await read([accountFirst, account])),
    ...(await read([accountSecond, null, account])),
  ]
  const placeIn = (log: RpcLog) => Number(log.blockNumber) * 1e5 + Number(log.logIndex)
  return parseEvents(logs.sort((left, right) => placeIn(left) - placeIn(right)))
}

async function timesOf(node: Node, events: readonly Event[]): Promise<(event: Event) => string> {
  const times = new Map<string, string>()
  for (const number of new Set(events.map((event) => String(event.blockNumber)))) {
    const { timestamp } = await node.getBlock({ blockNumber: BigInt(number) })
    times.set(number, String(timestamp))
  }
  return (event) => times.get(String(event.blockNumber))!
}

type Named<N extends Event['eventName']> = Extract<Event, { eventName: N }>
const all = <N extends Event['eventName']>(events: readonly Event[], name: N) =>
  events.filter((event): event is Named<N> => event.eventName === name)
const last = <N extends Event['eventName']>(events: readonly Event[], name: N) =>
  all(events, name).at(-1)

function historyOf(events: readonly Event[], secondsOf: (event: Event) => string) {
  const opened = all(events, 'CycleOpened')
  const closed = all(events, 'CycleClosed')
  const firstVerified = all(events, 'VerifiedSet').find(({ args }) => args.verified)
  return {
    score: String(closed.at(-1)?.args.scoreAfter ?? 0n),
    cycleCount: closed.length,
    repayCount: all(events, 'Repaid').length,
    cyclesOpened: opened.length,
    defaulted: all(events, 'DefaultMarked').length > 0,
    verifiedAt: firstVerified ? secondsOf(firstVerified) : null,
    firstSeenAt: events[0] ? secondsOf(events[0]) : null,
    cycles: opened.map((open) => {
      const end = closed.find(({ args }) => args.number === open.args.number)
      const so = end
        ? { peak: end.args.peakDrawn, repaid: end.args.totalRepaid }
        : openFigures(events.slice(events.indexOf(open)))
      return {
        number: Number(open.args.number),
        outcome: end ? outcomes[end.args.outcome]! : null,
        openedAt: secondsOf(open),
        closedAt: end ? secondsOf(end) : null,
        peakDrawn: String(so.peak),
        totalRepaid: String(so.repaid),
        scoreAfter: end ? String(end.args.scoreAfter) : null,
        openTxHash: open.transactionHash,
        closeTxHash: end ? end.transactionHash : null,
      }
    }),
  }
}

/** The cycle that is open now: its highest debt, and what was paid of it. */
function openFigures(since: readonly Event[]) {
  const drawn = all(since, 'Drawn').map(({ args }) => args.drawnAfter)
  const repaid = all(since, 'Repaid').map(({ args }) => args.amount)
  return {
    peak: drawn.sort((left, right) => (left < right ? -1 : 1)).at(-1) ?? 0n,
    repaid: repaid.reduce((sum, next) => sum + next, 0n),
  }
}

function drawnAfter(events: readonly Event[]): string {
  const moved = events.findLast(
    (event) =>
      event.eventName === 'Drawn' ||
      event.eventName === 'Repaid' ||
      event.eventName === 'CollateralSeized' ||
      event.eventName === 'DefaultMarked',
  )
  if (!moved) return '0'
  const args = moved.args as { drawnAfter?: bigint; stillOwed?: bigint }
  return String(args.drawnAfter ?? args.stillOwed)
}
