import type { Limits } from '#platform/metrics/state-limits'
import type { Config } from '../config'
import { type Progress, referenceOf, type Statement, type Undated, type Word } from './provider'

/** The newest verdict on the user of a wallet. */
export type IdentityState = Exclude<Word, 'none' | 'approved'> | 'verified'

const late = { afterMs: 600_000, alarm: 'identity verdict not on chain' }

/** How long the orders from a verdict may be awaited: the flag on the chain, then the coin. */
export const limits: Limits<IdentityState> = {
  verified: late,
  duplicate: late,
  rejected: late,
  resubmit: late,
  reset: late,
}

/** The newest verdict and order for a user. */
export type Identity = {
  readonly state: IdentityState
  /** Unix ms of the verdict that decided the state. */
  readonly decidedAtMs: number
  /** Revision of the newest order to the relayer; null if there was none. */
  readonly revision: bigint | null
}

/** Level and environment of approvals that count. */
export type IdentityPolicy = {
  readonly level: string
  readonly environment: 'sandbox' | 'production'
}

/** Reasons to ignore a statement, in the order of the checks. */
type Ignored =
  | 'no verdict'
  | 'unknown subject'
  | 'unknown inquiry'
  | 'other level'
  | 'other environment'
  | 'older than the verdict we have'
  | 'person unknown'

/** `flag` is the new flag to order on the chain; null if it does not change. */
export type IdentityDecision =
  | { ignored: Ignored }
  | { wallet: `0x${string}`; next: Identity; flag: boolean | null }

/** Returns the wallet of a statement if it is one of ours. */
export const subjectOf = (statement: Pick<Statement, 'subjectRef'>): `0x${string}` | undefined =>
  referenceOf(statement.subjectRef) ?? undefined

/**
 * Decides from one statement, independent of arrival order: the newest verdict counts, and if two have
 * the same time, the one against the user.
 */
export function decideIdentity(
  known: Identity | undefined,
  statement: Statement,
  policy: IdentityPolicy,
): IdentityDecision {
  if (statement.word === 'none') return { ignored: 'no verdict' }
  const wallet = subjectOf(statement)
  if (!wallet) return { ignored: 'unknown subject' }
  // A reset or deletion applies to all levels.
  if (statement.word !== 'reset' && !levelFits(statement, policy)) return { ignored: 'other level' }
  if (!environmentFits(statement, policy)) return { ignored: 'other environment' }
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

/** Verdicts with which the provider approves; which of them it is depends on the person's other wallets. */
const isApproval = (word: Word | IdentityState): boolean =>
  word === 'approved' || word === 'verified' || word === 'duplicate'

/** True if the level matches. An approval must name our level; a refusal without a level counts. */
const levelFits = ({ word, level }: Statement, policy: IdentityPolicy): boolean =>
  level === policy.level || (level === null && !isApproval(word))

/**
 * True if the environment matches. Without one, an approval counts as the sandbox's and a refusal counts
 * everywhere. Resets and deletions always count: vendors omit the environment or get it wrong there, and
 * only the vendor can send them.
 */
function environmentFits({ word, sandbox }: Statement, { environment }: IdentityPolicy): boolean {
  if (word === 'reset') return true
  if (sandbox === null) return environment === 'sandbox' || !isApproval(word)
  return sandbox === (environment === 'sandbox')
}

function isNewer(known: Identity, { occurredAtMs, word }: Statement): boolean {
  // The approval may be the same one: the answer about the person's other wallets is new.
  const isOther = (known.state === 'duplicate') !== (word === 'duplicate')
  if (isApproval(known.state) && isApproval(word) && isOther) return true
  if (occurredAtMs !== known.decidedAtMs) return occurredAtMs > known.decidedAtMs
  return isApproval(known.state) && !isApproval(word)
}

function flagChange(known: Identity | undefined, state: IdentityState): boolean | null {
  const was = known?.state === 'verified'
  const is = state === 'verified'
  return was === is ? null : is
}

/** True for an approval without a level or environment: it does not count, but a lookup can complete it. */
export const needsAsking = ({ word, level, sandbox }: Undated): boolean =>
  word === 'approved' && (level === null || sandbox === null)

/** Returns the verdict's unix ms, raised above the last revision so that no two orders share one. */
function revisionAfter(known: Identity | undefined, { occurredAtMs }: Statement): bigint {
  const last = known?.revision ?? -1n
  const own = BigInt(occurredAtMs)
  return own > last ? own : last + 1n
}

/** Returns the progress in a statement; undefined if it has none, or is not about our wallets, level and environment. */
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

/** Schedule of rechecks with the provider; all in ms. */
export type RecheckSchedule = {
  /** Interval for users with a link and no final verdict, during the first `openForMs`. */
  readonly openMs: number
  readonly openForMs: number
  /** Interval afterwards, and permanently for approved users. */
  readonly everyMs: number
  /** How long users who are not approved are rechecked. */
  readonly forMs: number
}

export const scheduleOf = (config: Config): RecheckSchedule => ({
  openMs: config.identityRecheckOpenMs,
  openForMs: config.identityRecheckOpenForMs,
  everyMs: config.identityRecheckMs,
  forMs: config.identityRecheckForMs,
})

/** Facts that decide the time of the next recheck. */
export type Standing = {
  readonly state: IdentityState | undefined
  readonly decidedAt: Date | null
  /** When the user received the newest link. */
  readonly linkedAt: Date | null
}

/**
 * Returns the time of the next recheck; null if none is due until a new link or verdict. Users whom the
 * provider has approved are rechecked permanently: an approval can be withdrawn, and so can a duplicate.
 */
export function nextCheckAt(standing: Standing, schedule: RecheckSchedule, nowMs: number) {
  const { state, decidedAt, linkedAt } = standing
  if (state === 'verified') return new Date(nowMs + schedule.everyMs)
  const linkedMs = linkedAt?.getTime() ?? Number.NEGATIVE_INFINITY
  const decidedMs = decidedAt?.getTime() ?? Number.NEGATIVE_INFINITY
  const ageMs = nowMs - Math.max(linkedMs, decidedMs)
  const isFinal = state === 'rejected' && decidedMs >= linkedMs
  if (!isFinal && ageMs < schedule.openForMs) return new Date(nowMs + schedule.openMs)
  // The approval may be years old, and the answer about the person wrong.
  const isAsked = state === 'duplicate' || ageMs < schedule.forMs
  return isAsked ? new Date(nowMs + schedule.everyMs) : null
}

const retryMs = 60_000

/** Returns the time of the next recheck after consecutive failures: never later than the usual schedule. */
export const retryAt = (failures: number, schedule: RecheckSchedule, nowMs: number) =>
  new Date(
    nowMs + Math.min(retryMs * 2 ** Math.min(failures, 12), schedule.openMs, schedule.everyMs),
  )
