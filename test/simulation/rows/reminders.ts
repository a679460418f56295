import { autoRepayFailures, autoRepaySources, type ReminderKind } from '#shared/messages/credit'
import { type AutoRepayment, autoRepayments, causeOf } from '../../../services/gateway/reminders/auto-repay.store'
import { reminders } from '../../../services/gateway/reminders/reminder.store'
import { type Rows, rowsOf } from './rows'
import { nullsOf, type StandIn } from './table'

type Tries = typeof import('../../../services/gateway/reminders/auto-repay.store')
type Reminders = typeof import('../../../services/gateway/reminders/reminder.store')

export const triesIn = (rows: Rows) => rows.of<AutoRepayment>(autoRepayments)

type Ended = Pick<AutoRepayment, 'outcome' | 'reason' | 'source'>

function sightOf({ outcome, reason, source }: Ended): string {
  const repaid = source ? `repaid from the ${source}` : 'repaid, and announced again without its amount'
  return `automatic repayment: ${reason ?? (outcome === 'repaid' ? repaid : outcome)}`
}
/** Free collateral covers the debt, unless yield has made rounding expensive, and worlds have no yield. */
const neverHere: readonly string[] = ['collateral_too_low']
const ends: readonly Ended[] = [
  ...autoRepayFailures
    .filter((reason) => !neverHere.includes(reason))
    .map((reason) => ({ outcome: 'failed' as const, reason, source: null })),
  ...[...autoRepaySources, null].map((source) => ({ outcome: 'repaid' as const, reason: null, source })),
  { outcome: 'needless', reason: null, source: null },
]
/** Ends of tries that must occur. */
export const triesToSee: readonly string[] = ends.map(sightOf)

export const findPlanned: StandIn<Tries['findPlanned']> = async (db, wallet, cycle) =>
  triesIn(rowsOf(db))
    .where((one) => one.wallet === wallet && one.cycle === cycle)
    .map(({ attempt, plannedAt }) => ({ attempt, plannedAt }))
    .sort((left, right) => left.attempt - right.attempt)

export const insertTry: StandIn<Tries['insertTry']> = async (tx, one) => {
  const rows = rowsOf(tx)
  return triesIn(rows).insert(causeOf(one), {
    ...nullsOf(autoRepayments),
    orderedAt: rows.now(),
    ...one,
  } as AutoRepayment)
}

export const findUnanswered: StandIn<Tries['findUnanswered']> = async (db, afterMs, rowsMax) => {
  const rows = rowsOf(db)
  const now = rows.clock()
  const found = triesIn(rows)
    .where(({ outcome, orderedAt }) => outcome === null && orderedAt.getTime() <= now - afterMs)
    .map(({ wallet, cycle, attempt, orderedAt }) => ({ wallet, cycle, attempt, ageMs: now - orderedAt.getTime() }))
    .slice(0, rowsMax)
  if (found.length > 0) rows.saw('an automatic repayment was ordered again')
  return found
}

export const endTry: StandIn<Tries['endTry']> = async (tx, one, ending, endedAt) => {
  const rows = rowsOf(tx)
  const tries = triesIn(rows)
  const known = tries.get(causeOf(one))
  if (known && known.outcome !== null) return false
  const fresh = { ...nullsOf(autoRepayments), orderedAt: rows.now(), ...one }
  const { outcome, reason, source } = tries.set(causeOf(one), {
    ...(known ?? fresh),
    ...ending,
    endedAt,
  } as AutoRepayment)
  rows.saw(sightOf({ outcome, reason, source }))
  return true
}

type Sent = { readonly wallet: string; readonly cycle: number; readonly kind: ReminderKind }
const sentIn = (rows: Rows) => rows.of<ReadonlySet<ReminderKind>>(reminders)
const keyOf = ({ wallet, cycle }: Pick<Sent, 'wallet' | 'cycle'>) => `${wallet} ${cycle}`

export const findSent: StandIn<Reminders['findSent']> = async (db, wallet, cycle) =>
  sentIn(rowsOf(db)).get(keyOf({ wallet, cycle })) ?? new Set()

export const insertReminder: StandIn<Reminders['insertReminder']> = async (tx, reminder) => {
  const sent = sentIn(rowsOf(tx))
  const known = sent.get(keyOf(reminder)) ?? new Set()
  if (known.has(reminder.kind)) return false
  sent.set(keyOf(reminder), new Set([...known, reminder.kind]))
  return true
}
