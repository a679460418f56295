import {
  type Address,
  encodeEventTopics,
  getAddress,
  type Hex,
  pad,
  parseEventLogs,
  type RpcLog,
} from 'viem'
import type { Place } from '#infra/ops/place'
import { finalizedBlock, type Node, openNode, readLogs } from '#infra/ops/record/chain-log'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'

const topicOf = (eventName: Parameters<typeof encodeEventTopics>[0]['eventName']): Hex =>
  encodeEventTopics({ abi: creditLineAbi, eventName } as never)[0] as Hex

/** Events by the position of the account among their indexed arguments. */
const accountFirst = [
  'VerifiedSet',
  'FrozenSet',
  'CollateralWithdrawn',
  'CollateralSeized',
  'Drawn',
  'CycleOpened',
  'CycleClosed',
  'CycleReversed',
  'DefaultMarked',
].map(topicOf)
const accountSecond = [
  'CollateralAdded',
  'TopUpRevoked',
  'Repaid',
  'RepaymentHeld',
  'RepaymentRevoked',
  'HoldExtended',
].map(topicOf)
const outcomes = ['Qualified', 'Short', 'Late', 'Defaulted', 'Reversed'] as const

type Event = ReturnType<typeof parseEvents>[number]
const parseEvents = (logs: RpcLog[]) => parseEventLogs({ abi: creditLineAbi, logs: logs as never })

/**
 * Computes the public record of a wallet from the finalized chain: figures from `accountOf`,
 * history from events.
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
    /** Figures that follow from the events, to be compared with `accountOf` at the same block. */
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
  const revoked = all(events, 'RepaymentRevoked')
  const scored = events.findLast(
    (event) => event.eventName === 'CycleClosed' || event.eventName === 'CycleReversed',
  ) as Named<'CycleClosed' | 'CycleReversed'> | undefined
  const firstVerified = all(events, 'VerifiedSet').find(({ args }) => args.verified)
  return {
    score: String(scored?.args.scoreAfter ?? 0n),
    cycleCount: closed.length,
    repayCount: all(events, 'Repaid').length - revoked.length,
    cyclesOpened: opened.length,
    defaulted: all(events, 'DefaultMarked').length > 0,
    verifiedAt: firstVerified ? secondsOf(firstVerified) : null,
    firstSeenAt: events[0] ? secondsOf(events[0]) : null,
    cycles: opened.map((open) => cycleOf(open, events, secondsOf)),
  }
}

/** A cycle without repayments that were revoked later. */
function cycleOf(
  open: Named<'CycleOpened'>,
  events: readonly Event[],
  secondsOf: (event: Event) => string,
) {
  const { number } = open.args
  const end = all(events, 'CycleClosed').find(({ args }) => args.number === number)
  const since = events.slice(events.indexOf(open))
  const within = end ? since.slice(0, since.indexOf(end)) : since
  const reversed = all(events, 'CycleReversed').findLast(({ args }) => args.number === number)
  const repaid = new Set(all(within, 'Repaid').map(({ args }) => args.ref))
  const takenBack = (some: readonly Event[]) =>
    sumOf(all(some, 'RepaymentRevoked').filter(({ args }) => repaid.has(args.ref)))
  const total = end
    ? end.args.totalRepaid - takenBack(since.slice(within.length))
    : sumOf(all(within, 'Repaid')) - takenBack(within)
  const outcome = end ? outcomes[end.args.outcome]! : null
  const scoreAfter = (reversed ?? end)?.args.scoreAfter ?? null
  return {
    number: Number(number),
    outcome: reversed ? 'Reversed' : outcome,
    // A restored debt brings its own opening time.
    openedAt: String((last(within, 'RepaymentRevoked') ?? open).args.openedAt),
    closedAt: end ? secondsOf(end) : null,
    peakDrawn: String(end ? end.args.peakDrawn : peakOf(within)),
    totalRepaid: String(total),
    scoreAfter: scoreAfter === null ? null : String(scoreAfter),
    openTxHash: open.transactionHash,
    closeTxHash: end ? end.transactionHash : null,
  }
}

const sumOf = (events: readonly Named<'Repaid' | 'RepaymentRevoked'>[]) =>
  events.reduce((sum, { args }) => sum + args.amount, 0n)

/** Highest debt of an open cycle. */
const peakOf = (events: readonly Event[]): bigint =>
  [...all(events, 'Drawn'), ...all(events, 'RepaymentRevoked')]
    .map(({ args }) => args.drawnAfter)
    .sort((left, right) => (left < right ? -1 : 1))
    .at(-1) ?? 0n

function drawnAfter(events: readonly Event[]): string {
  const moved = events.findLast(
    (event) =>
      event.eventName === 'Drawn' ||
      event.eventName === 'Repaid' ||
      event.eventName === 'RepaymentRevoked' ||
      event.eventName === 'CollateralSeized' ||
      event.eventName === 'DefaultMarked',
  )
  if (!moved) return '0'
  const args = moved.args as { drawnAfter?: bigint; stillOwed?: bigint }
  return String(args.drawnAfter ?? args.stillOwed)
}
