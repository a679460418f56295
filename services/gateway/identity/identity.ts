import type { Limits } from '#shared/overdue'
import type { Config } from '../config'
import { type Progress, referenceOf, type Statement, type Undated, type Word } from './provider'

/** What the newest verdict says of the person behind a wallet. */
export type IdentityState = Exclude<Word, 'none' | 'approved'> | 'verified'

const late = { afterMs: 600_000, alarm: 'verdict is not on the chain' }

/** How long an order may be awaited that a verdict gave: the flag on the chain, then the coin. */
export const limits: Limits<IdentityState> = {
  verified: late,
  rejected: late,
  resubmit: late,
  reset: late,
}

/** What we hold about a person: the newest verdict and the newest order. */
export type Identity = {
  readonly state: IdentityState
  /** Unix ms of the verdict that decided the state. */
  readonly decidedAtMs: number
  /** Orders what the relayer is told; null when it was never told anything. */
  readonly revision: bigint | null
}

/** Which approvals count. */
export type IdentityPolicy = {
  readonly level: string
  readonly environment: 'sandbox' | 'production'
}

/** Why a statement changes nothing, in the order in which it is checked. */
type Ignored =
  | 'no verdict'
  | 'unknown subject'
  | 'other level'
  | 'other environment'
  | 'older than the verdict we have'

/** `flag` is what the chain must be told, null when it already says so. */
export type IdentityDecision =
  | { ignored: Ignored }
  | { wallet: `0x${string}`; next: Identity; flag: boolean | null }

/** The wallet that a statement is about, if it is one of ours. */
export const subjectOf = (statement: Pick<Statement, 'subjectRef'>): `0x${string}` | undefined =>
  referenceOf(statement.subjectRef) ?? undefined

/**
 * Decides from one statement, whatever the order in which statements arrive: the newest verdict
 * counts, and of two at the same moment the one against the person.
 */
export function decideIdentity(
  known: Identity | undefined,
  statement: Statement,
  policy: IdentityPolicy,
): IdentityDecision {
  if (statement.word === 'none') return { ignored: 'no verdict' }
  const wallet = subjectOf(statement)
  if (!wallet) return { ignored: 'unknown subject' }
  // Resetting or deleting a person says nothing of a level: it takes everything back.
  if (statement.word !== 'reset' && !levelFits(statement, policy)) return { ignored: 'other level' }
  if (!environmentFits(statement, policy)) return { ignored: 'other environment' }
  if (known && !isNewer(known, statement)) return { ignored: 'older than the verdict we have' }
  const state = statement.word === 'approved' ? 'verified' : statement.word
  const flag = flagChange(known, state)
  const revision = flag === null ? (known?.revision ?? null) : revisionAfter(known, statement)
  return { wallet, next: { state, decidedAtMs: statement.occurredAtMs, revision }, flag }
}

/** An approval must name our level; a refusal that names none still counts. */
const levelFits = ({ word, level }: Statement, policy: IdentityPolicy): boolean =>
  level === policy.level || (level === null && word !== 'approved')

/**
 * Production approvals must say that they are. What says nothing of where it was made counts as the
 * sandbox's when it approves, and everywhere when it refuses. Resets and deletions count whatever
 * they say: vendors leave it out there, or say it wrongly, and nobody but the vendor can send them.
 */
function environmentFits({ word, sandbox }: Statement, { environment }: IdentityPolicy): boolean {
  if (word === 'reset') return true
  if (sandbox === null) return environment === 'sandbox' || word !== 'approved'
  return sandbox === (environment === 'sandbox')
}

function isNewer(known: Identity, { occurredAtMs, word }: Statement): boolean {
  if (occurredAtMs !== known.decidedAtMs) return occurredAtMs > known.decidedAtMs
  return known.state === 'verified' && word !== 'approved'
}

function flagChange(known: Identity | undefined, state: IdentityState): boolean | null {
  const was = known?.state === 'verified'
  const is = state === 'verified'
  return was === is ? null : is
}

/**
 * An approval that does not say of which level it is, or where or when it was given, is none; but
 * the provider can be asked.
 */
export const needsAsking = ({ word, level, sandbox }: Undated): boolean =>
  word === 'approved' && (level === null || sandbox === null)

/** Unix ms of the verdict, pushed past the last one so that no two orders share a revision. */
function revisionAfter(known: Identity | undefined, { occurredAtMs }: Statement): bigint {
  const last = known?.revision ?? -1n
  const own = BigInt(occurredAtMs)
  return own > last ? own : last + 1n
}

/** Whose progress a statement tells of; undefined when it tells of none, or of nobody we ask about. */
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

/** How often the provider is asked about a person; all in ms. */
export type RecheckSchedule = {
  /** Pause while a person has a link and no final verdict, for the first `openForMs`. */
  readonly openMs: number
  readonly openForMs: number
  /** Pause afterwards, and for verified people, about whom it never ends. */
  readonly everyMs: number
  /** Nobody else is asked about longer than so. */
  readonly forMs: number
}

export const scheduleOf = (config: Config): RecheckSchedule => ({
  openMs: config.identityRecheckOpenMs,
  openForMs: config.identityRecheckOpenForMs,
  everyMs: config.identityRecheckMs,
  forMs: config.identityRecheckForMs,
})

/** What decides when the provider is asked next. */
export type Standing = {
  readonly state: IdentityState | undefined
  readonly decidedAt: Date | null
  /** The newest link the person was given. */
  readonly linkedAt: Date | null
}

/**
 * When the provider is asked about a person again; null: no more, until there is a new link or
 * verdict. A verified person is asked about without end, because an approval can be withdrawn.
 */
export function nextCheckAt(standing: Standing, schedule: RecheckSchedule, nowMs: number) {
  const { state, decidedAt, linkedAt } = standing
  if (state === 'verified') return new Date(nowMs + schedule.everyMs)
  const linkedMs = linkedAt?.getTime() ?? Number.NEGATIVE_INFINITY
  const decidedMs = decidedAt?.getTime() ?? Number.NEGATIVE_INFINITY
  const ageMs = nowMs - Math.max(linkedMs, decidedMs)
  const isFinal = state === 'rejected' && decidedMs >= linkedMs
  if (!isFinal && ageMs < schedule.openForMs) return new Date(nowMs + schedule.openMs)
  return ageMs < schedule.forMs ? new Date(nowMs + schedule.everyMs) : null
}

const retryMs = 60_000

/** When to ask again after so many questions in a row without an answer: never later than usual. */
export const retryAt = (failures: number, schedule: RecheckSchedule, nowMs: number) =>
  new Date(
    nowMs + Math.min(retryMs * 2 ** Math.min(failures, 12), schedule.openMs, schedule.everyMs),
  )
