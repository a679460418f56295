import type { Hex } from 'viem'
import type { ChainEvent, EventArgs } from './event.ts'

/** The words of the contract's outcomes, by their number. */
export const outcomes = ['Qualified', 'Short', 'Late', 'Defaulted'] as const
export type Outcome = (typeof outcomes)[number]

/** A cycle of debt. What has not happened yet is null. */
export type Cycle = {
  readonly number: number
  readonly outcome: Outcome | null
  readonly openedAtSeconds: number
  readonly closedAtSeconds: number | null
  readonly peakDrawnMicro: bigint
  readonly totalRepaidMicro: bigint
  readonly scoreAfter: bigint | null
  readonly openTxHash: Hex
  readonly closeTxHash: Hex | null
}

/** What the events of one wallet add up to. `closed` holds the cycles that this fold closed. */
export type Standing = {
  readonly verified: boolean
  readonly defaulted: boolean
  readonly score: bigint
  readonly drawnMicro: bigint
  readonly repayCount: number
  readonly cyclesOpened: number
  readonly cyclesClosed: number
  readonly verifiedAtSeconds: number | null
  readonly firstSeenAtSeconds: number | null
  readonly lastBlock: number
  readonly open: Cycle | null
  readonly closed: readonly Cycle[]
}

/** A wallet that the contract has never named. */
export const unseen: Standing = {
  verified: false,
  defaulted: false,
  score: 0n,
  drawnMicro: 0n,
  repayCount: 0,
  cyclesOpened: 0,
  cyclesClosed: 0,
  verifiedAtSeconds: null,
  firstSeenAtSeconds: null,
  lastBlock: 0,
  open: null,
  closed: [],
}

/** The contract cannot have done this from here: an event before it is missing. */
export class Impossible extends Error {
  override name = 'Impossible'
  constructor(
    reason: string,
    readonly event: ChainEvent,
  ) {
    super(`${event.name} at ${event.blockNumber}/${event.logIndex}: ${reason}`)
  }
}

/**
 * The standing after one more event. Each event says what it left behind (`drawnAfter`, the number
 * of the cycle, its peak), so a step that does not fit proves a hole: throws `Impossible`.
 */
export function evolve(before: Standing, event: ChainEvent): Standing {
  const standing: Standing = {
    ...before,
    firstSeenAtSeconds: before.firstSeenAtSeconds ?? event.atSeconds,
    lastBlock: event.blockNumber,
  }
  switch (event.name) {
    case 'VerifiedSet':
      return verify(standing, event, event.args.verified)
    case 'CycleOpened':
      return openCycle(standing, event, event.args)
    case 'Drawn':
      return draw(standing, event, event.args)
    case 'Repaid':
      return { ...lower(standing, event, event.args), repayCount: standing.repayCount + 1 }
    case 'CollateralSeized':
      return lower(standing, event, event.args)
    case 'DefaultMarked':
      return markDefault(standing, event, event.args)
    case 'CycleClosed':
      return closeCycle(standing, event, event.args)
    case 'CollateralAdded':
    case 'CollateralWithdrawn':
    case 'TopUpRevoked':
      return standing // The record tells of debts; collateral only says that the wallet exists.
  }
}

/** All of a wallet's events, oldest first. */
export const fold = (events: readonly ChainEvent[]): Standing => events.reduce(evolve, unseen)

function verify(standing: Standing, event: ChainEvent, verified: boolean): Standing {
  demand(verified !== standing.verified, event, `verified was ${verified} before`)
  const since = standing.verifiedAtSeconds ?? (verified ? event.atSeconds : null)
  return { ...standing, verified, verifiedAtSeconds: since }
}

function openCycle(standing: Standing, event: ChainEvent, args: EventArgs['CycleOpened']) {
  demand(standing.open === null, event, 'a cycle was open')
  const number = standing.cyclesClosed + 1
  demand(args.number === String(number), event, `cycle ${number} was expected`)
  const open: Cycle = {
    number,
    outcome: null,
    openedAtSeconds: event.atSeconds,
    closedAtSeconds: null,
    peakDrawnMicro: 0n,
    totalRepaidMicro: 0n,
    scoreAfter: null,
    openTxHash: event.txHash,
    closeTxHash: null,
  }
  return { ...standing, open, cyclesOpened: standing.cyclesOpened + 1 }
}

function draw(standing: Standing, event: ChainEvent, args: EventArgs['Drawn']): Standing {
  const { open } = standing
  if (!open) throw new Impossible('no cycle was open', event)
  const drawnMicro = standing.drawnMicro + BigInt(args.amount)
  demand(drawnMicro === BigInt(args.drawnAfter), event, `${drawnMicro} was expected to be drawn`)
  const peakDrawnMicro = drawnMicro > open.peakDrawnMicro ? drawnMicro : open.peakDrawnMicro
  return { ...standing, drawnMicro, open: { ...open, peakDrawnMicro } }
}

/** Debt goes down: paid, or taken from collateral. After a default there is no cycle to count it. */
function lower(
  standing: Standing,
  event: ChainEvent,
  { amount, drawnAfter }: { amount: string; drawnAfter: string },
): Standing {
  const amountMicro = BigInt(amount)
  const drawnMicro = standing.drawnMicro - amountMicro
  demand(drawnMicro === BigInt(drawnAfter), event, `${drawnMicro} was expected to be drawn`)
  const { open } = standing
  if (!open) return { ...standing, drawnMicro }
  const totalRepaidMicro = open.totalRepaidMicro + amountMicro
  return { ...standing, drawnMicro, open: { ...open, totalRepaidMicro } }
}

function markDefault(standing: Standing, event: ChainEvent, args: EventArgs['DefaultMarked']) {
  demand(args.number === String(standing.open?.number), event, 'that cycle was not open')
  const moved = { amount: args.seized, drawnAfter: args.stillOwed }
  return { ...lower(standing, event, moved), defaulted: true }
}

function closeCycle(standing: Standing, event: ChainEvent, args: EventArgs['CycleClosed']) {
  const { open } = standing
  if (!open) throw new Impossible('no cycle was open', event)
  const outcome = outcomes[Number(args.outcome)]
  if (!outcome) throw new Impossible(`outcome ${args.outcome} is not known`, event)
  demand(args.number === String(open.number), event, `cycle ${open.number} was open`)
  demand(args.peakDrawn === String(open.peakDrawnMicro), event, `peak was ${open.peakDrawnMicro}`)
  demand(
    args.totalRepaid === String(open.totalRepaidMicro),
    event,
    `${open.totalRepaidMicro} was repaid`,
  )
  demand((outcome === 'Defaulted') === standing.defaulted, event, 'the default does not fit')
  const score = BigInt(args.scoreAfter)
  const cycle: Cycle = {
    ...open,
    outcome,
    closedAtSeconds: event.atSeconds,
    scoreAfter: score,
    closeTxHash: event.txHash,
  }
  return {
    ...standing,
    score,
    cyclesClosed: open.number,
    open: null,
    closed: [...standing.closed, cycle],
  }
}

function demand(fits: boolean, event: ChainEvent, reason: string) {
  if (!fits) throw new Impossible(reason, event)
}
