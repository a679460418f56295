import { LRUCache } from 'lru-cache'
import type { StaticDecode } from 'typebox'
import { announce } from '#platform/db/outbox.store'
import { type Loop, startLoop } from '#platform/loop'
import { counter } from '#platform/metrics/measures'
import { messageIdFor } from '#shared/ids'
import { ChainAccount, ChainTerms } from '#shared/messages/chain'
import { CreditDue, reminderKinds } from '#shared/messages/credit'
import { IndexerDue } from '#shared/messages/indexer'
import { PaymentsActivity } from '#shared/messages/payments'
import type { Answer } from '#shared/refusals'
import type { Context } from '../context'
import { outbox } from '../schema.store'
import {
  attemptOf,
  decideAutoRepay,
  isCovered,
  lastInTime,
  neededMicro,
  orderTry,
  permissionOf,
  repeatUnanswered,
  type Step,
} from './auto-repay'
import { findPlanned, type Sum, type Try } from './auto-repay.store'
import { aheadSeconds, behindSeconds, decideReminder, restoredSeconds, zonesOf } from './reminder'
import { findSent, insertReminder } from './reminder.store'

// The reader lists the debts, and the credit line's own account decides. Times are the chain's, which also
// decides when a repayment is late.

type Due = StaticDecode<(typeof IndexerDue)['answer']>
type DueCycle = Due['cycles'][number]
type Memory = {
  /** Chain time before which a cycle with this due date need not be checked. */
  readonly looks: LRUCache<string, number>
  /** Cycle after which the next round begins, if the last one ended early. */
  after: DueCycle | null
}

const sentTotal = counter({
  what: 'reminders',
  help: 'Reminders of due debts that were sent, by kind.',
  labels: { kind: reminderKinds },
})

const concurrency = 8
const looksMax = 100_000
/** Time without a complete round after which an alert is raised, in ms: well within the day before a due date. */
const silentMaxMs = 3_600_000

export const openMemory = (): Memory => ({ looks: new LRUCache({ max: looksMax }), after: null })

type Reminding = Pick<Context, 'ask' | 'clock' | 'database' | 'log' | 'poke' | 'users'>

export function startReminding(context: Context): Loop {
  const { clock, log, config } = context
  const memory = openMemory()
  let endedAt = clock()
  return startLoop({
    name: 'reminders',
    everyMs: config.remindersEveryMs,
    log,
    work: async (signal) => {
      if (await remindOnce(context, memory, signal)) endedAt = clock()
      else if (clock() - endedAt > silentMaxMs)
        log.alarm({ lastAt: new Date(endedAt) }, 'reminders of due debts not sent')
      await repeatUnanswered(context)
    },
  })
}

/**
 * Sends the reminders that are due. Returns false unless all debts could be checked. A full batch without any
 * answer ends the round; the next round begins after it, so that failing wallets do not block the others.
 */
export async function remindOnce(context: Reminding, memory: Memory, signal?: AbortSignal): Promise<boolean> {
  const { looks } = memory
  let { after } = memory
  let isWhole = after === null
  memory.after = null
  try {
    const terms = await context.ask(ChainTerms, {})
    if ('refused' in terms) return false
    const sinceSeconds = terms.ok.cycle.graceSeconds + restoredSeconds(terms.ok.holdSeconds) + behindSeconds
    while (!signal?.aborted) {
      const page: Answer<Due> = await context.ask(IndexerDue, {
        sinceSeconds,
        untilSeconds: aheadSeconds,
        after: after && { dueAt: after.dueAt, wallet: after.wallet },
      })
      if ('refused' in page) return false
      const { cycles, isLast, blockTime }: Due = page.ok
      const due = cycles.filter((one) => Number(blockTime) >= (looks.get(keyOf(one)) ?? 0))
      for (let at = 0; at < due.length; at += concurrency) {
        const some = due.slice(at, at + concurrency)
        const done = await Promise.all(some.map((one) => tryToRemind(context, one, looks)))
        if (some.length === concurrency && !done.includes(true)) {
          memory.after = some.at(-1)!
          return false
        }
        isWhole &&= !done.includes(false)
      }
      if (isLast) return isWhole
      after = cycles.at(-1)!
    }
    return isWhole
  } catch (error) {
    context.log.warn({ err: error }, 'reminders failed, will retry')
    return false
  }
}

async function tryToRemind(context: Reminding, due: DueCycle, looks: Memory['looks']): Promise<boolean> {
  try {
    await remind(context, due, looks)
    return true
  } catch (error) {
    context.log.warn({ err: error, wallet: due.wallet }, 'reminder failed, will retry')
    return false
  }
}

const keyOf = ({ wallet, number, dueAt }: DueCycle) => `${wallet}:${number}:${dueAt}`

async function remind(context: Reminding, due: DueCycle, looks: Memory['looks']): Promise<void> {
  const { database, log, poke } = context
  const { wallet, number: cycle } = due
  const account = await context.ask(ChainAccount, { wallet })
  if ('refused' in account) throw new Error(`the account of ${wallet} could not be read`)
  const { cycle: open, paused, blockTime } = account.ok
  // The debt was repaid since, but not finally, or its due date moves when the pause of the contract ends.
  if (open === null || open.number !== cycle || paused) return
  const permission = permissionOf(account.ok)
  const sent = await database.read((db) => findSent(db, wallet, cycle))
  const user = await context.users.find(wallet)
  const debt = {
    openedAt: Number(open.openedAt),
    dueAt: Number(open.dueAt),
    defaultsAt: Number(open.defaultsAt),
  }
  const zones = zonesOf(user?.country ?? null)
  const { send: kind, lookAt } = decideReminder(debt, Number(blockTime), sent, zones)
  // A borrower who has paid is not told to pay, while the payment is on its way to the chain.
  if (kind && (await findSettlement(context, wallet)) === 'paid') return
  if (kind) {
    const { dueAt, defaultsAt } = open
    // A reminder promises no repayment that would fail, and none after the last try.
    const isPromised = permission && Number(blockTime) < debt.defaultsAt && isCovered(account.ok, permission)
    const isNew = await database.transaction(async (tx) => {
      if (!(await insertReminder(tx, { wallet, cycle, kind }))) return false
      announce(tx, outbox, CreditDue, messageIdFor(CreditDue, `${wallet}:${cycle}:${kind}`), {
        wallet,
        cycle,
        kind,
        dueAt,
        defaultsAt,
        ...(isPromised && { autoRepay: { max: String(permission.leftMicro), source: permission.source } }),
        occurredAt: new Date(context.clock()).toISOString(),
      })
      return true
    })
    if (isNew) {
      sentTotal({ kind })
      log.info({ wallet, cycle, kind }, 'reminder sent')
      poke()
    }
  }
  const repay = decideAutoRepay(debt, permission, Number(blockTime))
  if (permission && repay.due) {
    const sum = { ausdMicro: neededMicro(account.ok, permission), source: permission.source }
    if (!(await repayOnce(context, { wallet, cycle }, repay.due, sum))) return
  }
  // The result is remembered only for the chain's due date, because the reader may not have a later one yet.
  if (open.dueAt === due.dueAt) looks.set(keyOf(due), earlier(lookAt, repay.lookAt))
}

const earlier = (...times: readonly (number | null)[]) =>
  Math.min(...times.map((time) => time ?? Number.POSITIVE_INFINITY))

type OfCycle = Pick<Try, 'wallet' | 'cycle'>

/** Orders the try of a step, once. Returns false if the next round decides again. */
async function repayOnce(context: Reminding, { wallet, cycle }: OfCycle, due: Step, sum: Sum): Promise<boolean> {
  const { database, log, poke } = context
  const attempt = attemptOf(due, await database.read((db) => findPlanned(db, wallet, cycle)))
  if (attempt === null) return true
  // guard: a debt that its borrower is paying is not repaid automatically as well
  if (await isBeingPaid(context, wallet, due)) return false
  const one = { wallet, cycle, attempt, plannedAt: due.plannedAt }
  // Another instance took the number, perhaps for the step before.
  if (!(await database.transaction((tx) => orderTry(tx, one, sum)))) return false
  log.info(one, 'automatic repayment ordered')
  poke()
  return true
}

/**
 * Returns true if the borrower is paying. An open checkout does not stop the last try in time, because it may never be
 * paid. What both repay becomes collateral, so that a repayment does not depend on an answer of payments.
 */
async function isBeingPaid(context: Reminding, wallet: `0x${string}`, { step }: Step): Promise<boolean> {
  const settlement = await findSettlement(context, wallet)
  return settlement === 'paid' || (settlement === 'open' && step !== lastInTime)
}

/**
 * Finds a settlement of the wallet that is paid and not on the chain yet, or else one whose checkout is open. Returns
 * undefined also if payments does not answer.
 */
async function findSettlement({ ask, log }: Reminding, wallet: `0x${string}`): Promise<'paid' | 'open' | undefined> {
  const answer = await ask(PaymentsActivity, { wallet, limit: 1 }).catch((err) => {
    log.warn({ err, wallet }, 'settlements of a borrower not read')
    return undefined
  })
  if (!answer || 'refused' in answer) return undefined
  const settlements = answer.ok.inFlight.filter(({ kind }) => kind === 'settlement')
  // Money that came after the checkout had closed waits for a rate under the status of the checkout.
  if (settlements.some(({ status, reason }) => status === 'paid' || reason === 'awaiting_rate')) return 'paid'
  return settlements.some(({ status }) => status === 'awaiting_payment') ? 'open' : undefined
}
