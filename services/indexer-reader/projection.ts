import type { Hex } from 'viem'
import type { ChainEvent, EventArgs } from './event'

/** Outcomes of a cycle, in the order of the contract. */
export const outcomes = ['Qualified', 'Short', 'Late', 'Defaulted', 'Reversed'] as const
export type OutcomeOfCycle = (typeof outcomes)[number]

export type Cycle = {
  readonly number: number
  readonly outcome: OutcomeOfCycle | null
  readonly openedAtSeconds: number
  /** Due date at the time when the cycle was last open. */
  readonly dueAtSeconds: number
  readonly closedAtSeconds: number | null
  readonly peakDrawnMicro: bigint
  /** Sum of the repayments without revoked ones. */
  readonly totalRepaidMicro: bigint
  /** Score after the cycle closed or was reversed. */
  readonly scoreAfter: bigint | null
  readonly openTxHash: Hex
  readonly closeTxHash: Hex | null
}

/** A held repayment, with the `cycle` in which it counted: 0 after a default. */
export type HeldRepayment = {
  readonly ref: string
  readonly cycle: number
  readonly amountMicro: bigint
  readonly untilSeconds: number
}

export type WalletProjection = {
  readonly verified: boolean
  readonly frozen: boolean
  readonly defaulted: boolean
  readonly score: bigint
  readonly drawnMicro: bigint
  /** Number of repayments without revoked ones. */
  readonly repayCount: number
  readonly cyclesOpened: number
  readonly cyclesClosed: number
  readonly verifiedAtSeconds: number | null
  readonly firstSeenAtSeconds: number | null
  readonly lastBlock: number
  readonly held: readonly HeldRepayment[]
  readonly open: Cycle | null
  /** Cycles that this fold closed, or that a held repayment can still reverse. */
  readonly closed: readonly Cycle[]
}

export const unseen: WalletProjection = {
  verified: false,
  frozen: false,
  defaulted: false,
  score: 0n,
  drawnMicro: 0n,
  repayCount: 0,
  cyclesOpened: 0,
  cyclesClosed: 0,
  verifiedAtSeconds: null,
  firstSeenAtSeconds: null,
  lastBlock: 0,
  held: [],
  open: null,
  closed: [],
}

/** The events of an answer do not continue the stored ones. */
export class Incomplete extends Error {
  override name = 'Incomplete'
}

/**
 * Returns the state after an event. Events contain their resulting state; throws `Incomplete` if it does not follow.
 */
export function evolve(before: WalletProjection, event: ChainEvent): WalletProjection {
  if (event.wallet === null) return event.name === 'TermsExtended' ? extendTerm(before, event) : before
  const standing: WalletProjection = {
    ...before,
    firstSeenAtSeconds: before.firstSeenAtSeconds ?? event.atSeconds,
    lastBlock: event.blockNumber,
    // A repayment cannot be revoked after its hold.
    held: before.held.filter(({ untilSeconds }) => untilSeconds > event.atSeconds),
  }
  switch (event.name) {
    case 'VerifiedSet':
      return verify(standing, event, event.args.verified)
    case 'FrozenSet':
      demand(event.args.frozen !== standing.frozen, event, `frozen was ${standing.frozen} before`)
      return { ...standing, frozen: event.args.frozen }
    case 'CycleOpened':
      return openCycle(standing, event, event.args)
    case 'CycleRedated':
      return redate(standing, event, event.args)
    case 'Drawn':
      return draw(standing, event, event.args)
    case 'Repaid':
      return { ...lower(standing, event, event.args), repayCount: standing.repayCount + 1 }
    case 'RepaymentHeld':
      return hold(standing, event, event.args)
    case 'HoldExtended':
      return extend(standing, event.args)
    case 'RepaymentRevoked':
      return revoke(standing, event, event.args)
    case 'CollateralSeized':
      return lower(standing, event, event.args)
    case 'DefaultMarked':
      return markDefault(standing, event, event.args)
    case 'CycleClosed':
      return closeCycle(standing, event, event.args)
    case 'CycleReversed':
      return reverse(standing, event, event.args)
    default:
      return standing // Collateral and permissions only show that the wallet exists.
  }
}

export const fold = (events: readonly ChainEvent[]): WalletProjection => events.reduce(evolve, unseen)

function verify(standing: WalletProjection, event: ChainEvent, verified: boolean): WalletProjection {
  demand(verified !== standing.verified, event, `verified was ${verified} before`)
  const since = standing.verifiedAtSeconds ?? (verified ? event.atSeconds : null)
  return { ...standing, verified, verifiedAtSeconds: since }
}

function openCycle(standing: WalletProjection, event: ChainEvent, args: EventArgs['CycleOpened']) {
  demand(standing.open === null, event, 'a cycle was open')
  const number = standing.cyclesClosed + 1
  demand(args.number === String(number), event, `cycle ${number} was expected`)
  const open: Cycle = {
    number,
    outcome: null,
    ...datesOf(args),
    closedAtSeconds: null,
    peakDrawnMicro: 0n,
    totalRepaidMicro: 0n,
    scoreAfter: null,
    openTxHash: event.txHash,
    closeTxHash: null,
  }
  return { ...standing, open, cyclesOpened: standing.cyclesOpened + 1 }
}

/** Gives the open cycle older dates, because of restored debt. */
function redate(standing: WalletProjection, event: ChainEvent, args: EventArgs['CycleRedated']) {
  const open = openIn(standing, event)
  demand(args.number === String(open.number), event, `cycle ${open.number} was open`)
  return { ...standing, open: { ...open, ...datesOf(args) } }
}

const datesOf = (args: { openedAt: string; dueAt: string }) => ({
  openedAtSeconds: Number(args.openedAt),
  dueAtSeconds: Number(args.dueAt),
})

/** Moves the due date by the length of a pause. */
function extendTerm(standing: WalletProjection, { args }: ChainEvent<'TermsExtended'>) {
  const { open } = standing
  if (!open) return standing
  const dueAtSeconds = open.dueAtSeconds + Number(args.seconds_)
  return { ...standing, open: { ...open, dueAtSeconds } }
}

function draw(standing: WalletProjection, event: ChainEvent, args: EventArgs['Drawn']): WalletProjection {
  const open = openIn(standing, event)
  const drawnMicro = raised(standing, event, args)
  return { ...standing, drawnMicro, open: { ...open, peakDrawnMicro: peak(open, drawnMicro) } }
}

function lower(
  standing: WalletProjection,
  event: ChainEvent,
  { amount, drawnAfter }: { amount: string; drawnAfter: string },
): WalletProjection {
  const amountMicro = BigInt(amount)
  const drawnMicro = standing.drawnMicro - amountMicro
  demand(drawnMicro === BigInt(drawnAfter), event, `${drawnMicro} was expected to be drawn`)
  const { open } = standing
  if (!open) return { ...standing, drawnMicro }
  return { ...standing, drawnMicro, open: less(open, -amountMicro) }
}

/** Records a held repayment. The event precedes the `Repaid` of the same ref and moves no debt. */
function hold(standing: WalletProjection, event: ChainEvent, args: EventArgs['RepaymentHeld']): WalletProjection {
  const amountMicro = BigInt(args.amount)
  demand(amountMicro <= standing.drawnMicro, event, `only ${standing.drawnMicro} was drawn`)
  demand(!standing.held.some(({ ref }) => ref === args.ref), event, 'its ref was held already')
  if (amountMicro === 0n) return standing // All of the repayment was excess, so no debt depends on it.
  const cycle = standing.open?.number ?? 0
  const one = { ref: args.ref, cycle, amountMicro, untilSeconds: Number(args.heldUntil) }
  return { ...standing, held: [...standing.held, one] }
}

/** Moves the end of a hold. A ref without a held repayment belongs to a top-up. */
function extend(standing: WalletProjection, args: EventArgs['HoldExtended']): WalletProjection {
  const untilSeconds = Number(args.heldUntil)
  const held = standing.held.map((one) => (one.ref === args.ref ? { ...one, untilSeconds } : one))
  return { ...standing, held }
}

/**
 * Restores revoked debt. It belongs to its own cycle while that is open, else to the open one. In a closed cycle
 * `CycleReversed` has lowered the total, unless that cycle defaulted.
 */
function revoke(standing: WalletProjection, event: ChainEvent, args: EventArgs['RepaymentRevoked']) {
  const held = standing.held.find(({ ref }) => ref === args.ref)
  if (!held) throw impossible(event, 'nothing was held under its ref')
  const amountMicro = BigInt(args.amount)
  const left = { ...held, amountMicro: held.amountMicro - amountMicro }
  demand(left.amountMicro >= 0n, event, `${held.amountMicro} was held`)
  const isWhole = left.amountMicro === 0n
  const back: WalletProjection = {
    ...standing,
    drawnMicro: raised(standing, event, args),
    repayCount: standing.repayCount - (isWhole ? 1 : 0),
    held: standing.held.flatMap((one) => (one !== held ? one : isWhole ? [] : left)),
  }
  const { open } = standing
  if (!open) {
    const counted = closedCycle(standing, held.cycle)
    return counted?.outcome === 'Defaulted' ? change(back, less(counted, amountMicro)) : back
  }
  const owed = held.cycle === open.number ? less(open, amountMicro) : open
  return { ...back, open: { ...owed, peakDrawnMicro: peak(open, back.drawnMicro) } }
}

function reverse(standing: WalletProjection, event: ChainEvent, args: EventArgs['CycleReversed']) {
  const cycle = closedCycle(standing, Number(args.number))
  if (!cycle) throw impossible(event, 'no closed cycle with a held repayment has this number')
  const score = BigInt(args.scoreAfter)
  const amountMicro = BigInt(args.amount)
  const reversed: Cycle = { ...less(cycle, amountMicro), outcome: 'Reversed', scoreAfter: score }
  return { ...change(standing, reversed), score }
}

function markDefault(standing: WalletProjection, event: ChainEvent, args: EventArgs['DefaultMarked']) {
  demand(args.number === String(standing.open?.number), event, 'that cycle was not open')
  const moved = { amount: args.seized, drawnAfter: args.stillOwed }
  return { ...lower(standing, event, moved), defaulted: true }
}

function closeCycle(standing: WalletProjection, event: ChainEvent, args: EventArgs['CycleClosed']) {
  const open = openIn(standing, event)
  const outcome = outcomes[Number(args.outcome)]
  if (!outcome) throw impossible(event, `outcome ${args.outcome} is not known`)
  demand(args.number === String(open.number), event, `cycle ${open.number} was open`)
  demand(args.peakDrawn === String(open.peakDrawnMicro), event, `peak was ${open.peakDrawnMicro}`)
  demand(args.totalRepaid === String(open.totalRepaidMicro), event, `${open.totalRepaidMicro} was repaid`)
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

const closedCycle = ({ closed }: WalletProjection, number: number) => closed.find((cycle) => cycle.number === number)

const change = (standing: WalletProjection, changed: Cycle): WalletProjection => ({
  ...standing,
  closed: standing.closed.map((cycle) => (cycle.number === changed.number ? changed : cycle)),
})

const less = (cycle: Cycle, amountMicro: bigint): Cycle => ({
  ...cycle,
  totalRepaidMicro: cycle.totalRepaidMicro - amountMicro,
})

const peak = (open: Cycle, drawnMicro: bigint): bigint =>
  drawnMicro > open.peakDrawnMicro ? drawnMicro : open.peakDrawnMicro

function raised(
  standing: WalletProjection,
  event: ChainEvent,
  { amount, drawnAfter }: { amount: string; drawnAfter: string },
): bigint {
  const drawnMicro = standing.drawnMicro + BigInt(amount)
  demand(drawnMicro === BigInt(drawnAfter), event, `${drawnMicro} was expected to be drawn`)
  return drawnMicro
}

function openIn({ open }: WalletProjection, event: ChainEvent): Cycle {
  if (!open) throw impossible(event, 'no cycle was open')
  return open
}

function demand(fits: boolean, event: ChainEvent, reason: string) {
  if (!fits) throw impossible(event, reason)
}

const impossible = (event: ChainEvent, reason: string) =>
  new Incomplete(`${event.name} at ${event.blockNumber}/${event.logIndex}: ${reason}`)
