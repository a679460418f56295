import { type Address, getAddress, type Hex } from 'viem'
import { finalizedBlock, type LogNode, readAtAny, readLogs } from '#infra/operations/record/chain-log'
import {
  type Event,
  type EventNamed,
  eventTopics,
  last,
  named,
  parseEvents,
} from '#infra/operations/record/line-events'
import { ratioFromEvents } from '#infra/operations/record/ratio'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'

export type RecordPlace = {
  readonly rpcUrls: readonly string[]
  readonly creditLine: Address
  readonly deployBlock: bigint
  readonly logsRangeMax: bigint
}

const outcomes = ['Qualified', 'Short', 'Late', 'Defaulted', 'Reversed'] as const

/** Computes a wallet's record: figures from `accountOf`, history from events, both at the finalized block. */
export const recordFromChain = (place: RecordPlace, wallet: Address) =>
  readAtAny(place.rpcUrls, (node) => recordAt(node, place, wallet))

async function recordAt(node: LogNode, place: RecordPlace, wallet: Address) {
  const to = await finalizedBlock(node)
  const all = await eventsOf(node, place, to)
  const line = { address: place.creditLine, abi: creditLineAbi, blockNumber: to } as const
  const [account, sequence, holdSeconds, initialRatioBps, { timestamp }] = await Promise.all([
    node.readContract({ ...line, functionName: 'accountOf', args: [wallet] }),
    node.readContract({ ...line, functionName: 'sequence' }),
    node.readContract({ ...line, functionName: 'holdSeconds' }),
    node.readContract({ ...line, functionName: 'initialRatioBps' }),
    node.getBlock({ blockNumber: to }),
  ])
  const events = all.filter(({ args }) => 'account' in args && args.account === getAddress(wallet))
  const secondsOf = await timesOf(node, events)
  const history = historyOf(all, events, secondsOf)
  const open = history.cycles.find(({ closedAt }) => closedAt === null)
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
    fromContract: {
      events: Number(account.events),
      verified: account.verified,
      score: String(account.score),
      ratioBps: String(account.ratioBps),
      cycles: Number(account.cycles),
      defaulted: account.defaulted,
      drawn: String(account.drawn),
      openedAt: String(account.openedAt),
      dueAt: String(account.dueAt),
    },
    fromEvents: {
      events: events.length,
      verified: last(events, 'VerifiedSet')?.args.verified ?? false,
      score: history.score,
      ratioBps: String(ratioFromEvents(events, secondsOf, { holdSeconds, initialRatioBps, now: timestamp })),
      cycles: history.cycleCount,
      defaulted: history.defaulted,
      drawn: drawnAfter(events),
      openedAt: open?.openedAt ?? '0',
      dueAt: open?.dueAt ?? '0',
    },
    missing: missingIn(all, sequence),
    sequence: Number(sequence),
    blockNumber: to,
  }
}
export type ChainRecord = Awaited<ReturnType<typeof recordFromChain>>

/** Reads the events of all accounts, because only together do they have a sequence without gaps. */
async function eventsOf(node: LogNode, place: RecordPlace, to: bigint): Promise<Event[]> {
  const { creditLine: address, deployBlock: from, logsRangeMax } = place
  const logs = await readLogs(node, { address, topics: [eventTopics] }, { from, to }, logsRangeMax)
  return parseEvents(logs)
}

/** Returns one line per gap in the sequence, including a gap at its end. */
function missingIn(all: readonly Event[], sequence: bigint): string[] {
  const numbers = all.flatMap(({ args }) => ('sequence' in args ? args.sequence : []))
  return [...numbers, sequence + 1n].flatMap((number, index) => {
    const before = numbers[index - 1] ?? 0n
    const count = number - before - 1n
    if (count === 0n) return []
    if (count < 0n) return [`sequence ${number} follows ${before}`]
    const what = count === 1n ? 'an event is' : `${count} events are`
    return index === numbers.length
      ? [`${what} missing after sequence ${before}`]
      : [`${what} missing between sequence ${before} and ${number}`]
  })
}

/** Returns the times of events, read from their blocks, because the logs themselves may have none. */
async function timesOf(node: LogNode, events: readonly Event[]): Promise<(event: Event) => string> {
  const times = new Map<string, string>()
  for (const event of events) {
    const block = String(event.blockNumber)
    if (times.has(block)) continue
    const { blockTimestamp } = event as { blockTimestamp?: unknown }
    const at = blockTimestamp ?? (await node.getBlock({ blockNumber: BigInt(block) })).timestamp
    times.set(block, String(Number(at)))
  }
  return (event) => times.get(String(event.blockNumber))!
}

/** Returns the due date of a cycle. Each pause moves it until `end`. */
function dueAtOf(
  all: readonly Event[],
  dated: EventNamed<'CycleOpened' | 'CycleRedated'>,
  end: Event | undefined,
): string {
  const since = all.slice(all.indexOf(dated), end ? all.indexOf(end) : all.length)
  const pauses = named(since, 'TermsExtended')
  return String(pauses.reduce((sum, { args }) => sum + args.seconds_, dated.args.dueAt))
}

function historyOf(all: readonly Event[], events: readonly Event[], secondsOf: (event: Event) => string) {
  const opened = named(events, 'CycleOpened')
  const closed = named(events, 'CycleClosed')
  const scored = events.findLast((event) => event.eventName === 'CycleClosed' || event.eventName === 'CycleReversed') as
    | EventNamed<'CycleClosed' | 'CycleReversed'>
    | undefined
  const firstVerified = named(events, 'VerifiedSet').find(({ args }) => args.verified)
  return {
    score: String(scored?.args.scoreAfter ?? 0n),
    cycleCount: closed.length,
    repayCount: named(events, 'Repaid').length - revokedRefs(events),
    cyclesOpened: opened.length,
    defaulted: named(events, 'DefaultMarked').length > 0,
    verifiedAt: firstVerified ? secondsOf(firstVerified) : null,
    firstSeenAt: events[0] ? secondsOf(events[0]) : null,
    cycles: opened.map((open) => cycleOf(open, all, events, secondsOf)),
  }
}

/** Counts held repayments that were revoked whole, at once or in parts. */
function revokedRefs(events: readonly Event[]): number {
  const left = new Map<Hex, bigint>()
  for (const { eventName, args } of events) {
    if (eventName === 'RepaymentHeld' && args.amount > 0n) left.set(args.ref, args.amount)
    if (eventName !== 'RepaymentRevoked') continue
    left.set(args.ref, (left.get(args.ref) ?? 0n) - args.amount)
  }
  return [...left.values()].filter((amount) => amount === 0n).length
}

/** Builds one cycle, without repayments that were revoked later. */
function cycleOf(
  open: EventNamed<'CycleOpened'>,
  all: readonly Event[],
  events: readonly Event[],
  secondsOf: (event: Event) => string,
) {
  const { number } = open.args
  const end = named(events, 'CycleClosed').find(({ args }) => args.number === number)
  const since = events.slice(events.indexOf(open))
  const within = end ? since.slice(0, since.indexOf(end)) : since
  const reversed = named(events, 'CycleReversed').findLast(({ args }) => args.number === number)
  const repaid = new Set(named(within, 'Repaid').map(({ args }) => args.ref))
  const takenBack = (some: readonly Event[]) =>
    sumOf(named(some, 'RepaymentRevoked').filter(({ args }) => repaid.has(args.ref)))
  const total = end
    ? end.args.totalRepaid - takenBack(since.slice(within.length))
    : sumOf(named(within, 'Repaid')) - takenBack(within)
  const outcome = end ? outcomes[end.args.outcome]! : null
  // A restored debt has dates of its own.
  const dated = last(within, 'CycleRedated') ?? open
  const scoreAfter = (reversed ?? end)?.args.scoreAfter ?? null
  return {
    number: Number(number),
    outcome: reversed ? 'Reversed' : outcome,
    openedAt: String(dated.args.openedAt),
    dueAt: dueAtOf(all, dated, end),
    closedAt: end ? secondsOf(end) : null,
    peakDrawn: String(end ? end.args.peakDrawn : peakOf(within)),
    totalRepaid: String(total),
    scoreAfter: scoreAfter === null ? null : String(scoreAfter),
    openTxHash: open.transactionHash,
    closeTxHash: end ? end.transactionHash : null,
  }
}

const sumOf = (events: readonly EventNamed<'Repaid' | 'RepaymentRevoked'>[]) =>
  events.reduce((sum, { args }) => sum + args.amount, 0n)

const peakOf = (events: readonly Event[]): bigint =>
  [...named(events, 'Drawn'), ...named(events, 'RepaymentRevoked')]
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
