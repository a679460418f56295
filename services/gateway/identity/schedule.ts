import type { IdentityState } from './identity.ts'

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

/** What decides when the provider is asked next. */
export type Standing = {
  readonly state: IdentityState | undefined
  readonly decidedAt: Date | null
  /** The newest link the person was given. */
  readonly linkedAt: Date | null
}

/**
 * When the provider is asked about a person again; null: no more, until there is a new link or
 * verdict. A verified person is asked about for ever, because an approval can be withdrawn.
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
