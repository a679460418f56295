import { backoffMs } from '#platform/backoff'
import type { Limits } from '#platform/metrics/state-limits'
import type { Config } from '../config'
import { type Progress, referenceOf, type Statement, type Undated, type Word } from './provider'

export type IdentityState = Exclude<Word, 'none' | 'approved'> | 'verified'

const late = {
  afterMs: 600_000,
  alarm: 'identity verdict not on chain',
  steps: 'A rejected user stays verified until this is done. Check the relayer.',
} as const

/** Limits of a verdict's orders: the flag on the chain, then the coin. */
export const limits: Limits<IdentityState> = {
  verified: late,
  duplicate: late,
  withdrawn: late,
  rejected: late,
  resubmit: late,
  reset: late,
}

export type Identity = {
  readonly state: IdentityState
  readonly decidedAtMs: number
  readonly revision: bigint | null
}

export type IdentityPolicy = {
  readonly level: string
  readonly environment: 'sandbox' | 'production'
}

type Ignored =
  | 'no verdict'
  | 'unknown subject'
  | 'unknown inquiry'
  | 'other level'
  | 'other environment'
  | 'older than the verdict we have'
  | 'person unknown'

/** Decision about a statement. `flag` is to be ordered on the chain; null if it does not change. */
export type IdentityDecision = { ignored: Ignored } | { wallet: `0x${string}`; next: Identity; flag: boolean | null }

export const subjectOf = (statement: Pick<Statement, 'subjectRef'>): `0x${string}` | undefined =>
  referenceOf(statement.subjectRef) ?? undefined

/**
 * Decides about a statement, independently of arrival order: the newest verdict counts, and at the same time
 * the one against the user.
 */
export function decideIdentity(
  known: Identity | undefined,
  heard: Statement,
  policy: IdentityPolicy,
): IdentityDecision {
  const statement = afterReset(known, heard)
  if (statement.word === 'none') return { ignored: 'no verdict' }
  const wallet = subjectOf(statement)
  if (!wallet) return { ignored: 'unknown subject' }
  // A reset or deletion applies to all levels.
  if (statement.word !== 'reset' && !levelFits(statement, policy)) return { ignored: 'other level' }
  // guard: a sandbox approval has no effect in production
  if (!environmentFits(statement, policy)) return { ignored: 'other environment' }
  // guard: the newest verdict counts, even if an older one arrives later
  if (known && !isNewer(known, statement)) return { ignored: 'older than the verdict we have' }
  const state = statement.word === 'approved' ? 'verified' : statement.word
  const flag = flagChange(known, state)
  const revision = flag === null ? (known?.revision ?? null) : revisionAfter(known, statement)
  const decidedAtMs = Math.max(
    statement.occurredAtMs,
    known && isApproval(known.state) && isApproval(state) ? known.decidedAtMs : 0,
  )
  return { wallet, next: { state, decidedAtMs, revision }, flag }
}

/**
 * Returns true for each state that begins with the provider's approval; the person's other wallets and operators decide
 * between them.
 */
export const isApproval = (word: Word | IdentityState): boolean =>
  word === 'approved' || word === 'verified' || word === 'duplicate' || word === 'withdrawn'

/**
 * Dates an approval that a look-up finds after a reset by the look-up: the provider has taken the reset back, and the review
 * itself is older.
 */
function afterReset(known: Identity | undefined, heard: Statement): Statement {
  const { word, standingAtMs } = heard
  if (known?.state !== 'reset' || !isApproval(word) || standingAtMs === undefined) return heard
  return { ...heard, occurredAtMs: Math.max(heard.occurredAtMs, standingAtMs) }
}

/**
 * Returns true if the statement counts for our level. An approval must name it. A refusal counts without a level, and at any
 * level if it is final: an applicant has one review, which a move to another level replaces.
 */
const levelFits = ({ word, level, isFinal }: Statement, policy: IdentityPolicy): boolean =>
  // guard: an approval is for our verification level
  level === policy.level || (!isApproval(word) && (level === null || isFinal === true))

/**
 * Returns true if the statement counts in our environment. Without an environment, an approval counts as the
 * sandbox's, and a refusal counts everywhere. A reset always counts, because vendors omit its environment or
 * report a wrong one.
 */
function environmentFits({ word, sandbox }: Statement, { environment }: IdentityPolicy): boolean {
  if (word === 'reset') return true
  if (sandbox === null) return environment === 'sandbox' || !isApproval(word)
  return sandbox === (environment === 'sandbox')
}

function isNewer(known: Identity, { occurredAtMs, word }: Statement): boolean {
  // The approval may be the same one, with a new answer about the person's other wallets or a decision of an operator.
  const isOther = known.state !== (word === 'approved' ? 'verified' : word)
  if (isApproval(known.state) && isApproval(word) && isOther) return true
  if (occurredAtMs !== known.decidedAtMs) return occurredAtMs > known.decidedAtMs
  return isApproval(known.state) && !isApproval(word)
}

function flagChange(known: Identity | undefined, state: IdentityState): boolean | null {
  const was = known?.state === 'verified'
  const is = state === 'verified'
  return was === is ? null : is
}

/** Returns true for an approval that is incomplete: it does not count, but a lookup can complete it. */
export const needsAsking = ({ word, level, sandbox }: Undated): boolean =>
  word === 'approved' && (level === null || sandbox === null)

/** Returns the revision of the next order: the verdict's unix ms, or more, so that no two orders share one. */
function revisionAfter(known: Identity | undefined, { occurredAtMs }: Statement): bigint {
  const last = known?.revision ?? -1n
  const own = BigInt(occurredAtMs)
  return own > last ? own : last + 1n
}

export function progressIn(
  statement: Statement,
  policy: IdentityPolicy,
): { wallet: `0x${string}`; progress: Progress; progressedAt: Date } | undefined {
  const wallet = subjectOf(statement)
  const { progress, occurredAtMs } = statement
  if (!wallet || !progress) return undefined
  if (!levelFits(statement, policy) || !environmentFits(statement, policy)) return undefined
  return { wallet, progress, progressedAt: new Date(occurredAtMs) }
}

export type RecheckSchedule = {
  /** Interval during the first `openForMs`, in ms, while there is a link and no final verdict. */
  readonly openMs: number
  readonly openForMs: number
  /** Interval afterwards, in ms, during `forMs`; for approved users it applies permanently. */
  readonly everyMs: number
  readonly forMs: number
}

const dayMs = 86_400_000

export const scheduleOf = (config: Config): RecheckSchedule => ({
  openMs: config.identityRecheckOpenMs,
  openForMs: 3 * dayMs,
  everyMs: config.identityRecheckMs,
  forMs: 30 * dayMs,
})

export type KnownIdentity = {
  readonly state: IdentityState | undefined
  readonly decidedAt: Date | null
  readonly linkedAt: Date | null
}

/**
 * Returns the time of the next recheck, or null if none is due until a new link or verdict. An approval,
 * which can be withdrawn, is always rechecked.
 */
export function nextCheckAt(standing: KnownIdentity, schedule: RecheckSchedule, nowMs: number) {
  const { state, decidedAt, linkedAt } = standing
  if (state === 'verified') return new Date(nowMs + schedule.everyMs)
  const linkedMs = linkedAt?.getTime() ?? Number.NEGATIVE_INFINITY
  const decidedMs = decidedAt?.getTime() ?? Number.NEGATIVE_INFINITY
  const ageMs = nowMs - Math.max(linkedMs, decidedMs)
  const isFinal = state === 'rejected' && decidedMs >= linkedMs
  if (!isFinal && ageMs < schedule.openForMs) return new Date(nowMs + schedule.openMs)
  // The approval may be years old, and the answer about the person may have been wrong.
  const isAsked = state === 'duplicate' || ageMs < schedule.forMs
  return isAsked ? new Date(nowMs + schedule.everyMs) : null
}

const retryMs = 60_000

/** Returns the time of the next recheck after consecutive failures, which is never later than the usual schedule. */
export const retryAt = (failures: number, schedule: RecheckSchedule, nowMs: number) =>
  new Date(nowMs + backoffMs({ firstMs: retryMs, maxMs: Math.min(schedule.openMs, schedule.everyMs) }, failures))
