import { within } from '#platform/deadline'
import { failpoint } from '#platform/failpoint'
import type { Context } from '../context'
import { readClaims, reportForgotten } from './forgotten'
import { nextCheckAt, retryAt, scheduleOf } from './identity'
import { findOwnRefs } from './link.store'
import { type Finding, ProviderDown } from './provider'
import { type Due, leaseDue, planNext, standingOf } from './recheck.store'
import { applyStatement, samePersonOf } from './verdict'

const concurrency = 4
/** Deadline of all calls about one user, in ms: much shorter than the lease of the row. */
const lookUpDeadlineMs = 15_000

/**
 * Finds verdicts whose webhook was lost. The longest overdue rows come first, within this instance's budget.
 * A batch without any answer ends the round, because the provider is then down.
 */
export async function recheckOnce(context: Context, signal?: AbortSignal): Promise<void> {
  const { config, copies, database, provider, clock } = context
  const perMinute = config.identityRechecksPerMinute / copies.count()
  const budget = (perMinute * config.recheckEveryMs) / 60_000
  const longestMs = Math.max(config.identityRecheckMs, config.identityRecheckOpenMs)
  let left = Math.max(1, Math.floor(budget))
  while (left > 0 && !signal?.aborted) {
    const rowsMax = Math.min(left, concurrency)
    const due = await database.run((db) => leaseDue(db, provider.name, { now: new Date(clock()), longestMs, rowsMax }))
    const answered = await Promise.all(due.map((one) => recheckOne(context, one)))
    if (!answered.includes(true)) return
    left -= due.length
  }
}

/** Rechecks one user. Returns false without an answer. */
async function recheckOne(context: Context, due: Due): Promise<boolean> {
  const { wallet } = due.recheck
  try {
    const ownRefs = await context.database.read((db) => findOwnRefs(db, wallet))
    const asked = context.provider.lookUp(wallet, ownRefs)
    const finding = await within(asked, lookUpDeadlineMs, 'the identity provider')
    failpoint('gateway:identity-found')
    await takeFinding(context, due, finding)
    return true
  } catch (error) {
    const kind = error instanceof ProviderDown ? 'provider' : 'own'
    context.log.warn({ wallet, kind, err: error }, 'identity recheck failed, will retry')
    const failures = due.recheck.failures + 1
    const again = retryAt(failures, scheduleOf(context.config), context.clock())
    await context.database.run((db) => planNext(db, due, { nextCheckAt: again, failures }))
    return false
  }
}

async function takeFinding(context: Context, due: Due, finding: Finding): Promise<void> {
  const { config, database, clock, log } = context
  const { wallet } = due.recheck
  const statement = statementOf(context, due, finding)
  const same = statement ? await samePersonOf(context, statement) : 'unknown'
  const isForgotten = 'nobody' in finding && (due.held?.firstVerifiedAt ?? null) !== null
  const claims = isForgotten ? await readClaims(context, wallet) : []
  const changed = await database.transaction(async (tx) => {
    await reportForgotten(tx, context, { id: `look-up:${wallet}`, wallet, claims })
    const decision = statement && (await applyStatement(tx, context, statement, same))
    const standing = await standingOf(tx, wallet)
    const waits = decision && 'ignored' in decision && decision.ignored === 'person unknown'
    const failures = waits ? due.recheck.failures + 1 : 0
    await planNext(tx, due, {
      nextCheckAt: waits
        ? retryAt(failures, scheduleOf(config), clock())
        : nextCheckAt(standing, scheduleOf(config), clock()),
      failures,
      checkedAt: new Date(clock()),
    })
    return decision && 'next' in decision && decision.flag !== null
  })
  if (!changed) return
  log.warn({ wallet, word: statement?.word }, 'verdict found by recheck, no webhook received')
  context.poke()
}

/**
 * Returns the statement of a finding. A finding without a time gets that of the verdict it refutes, so that
 * it wins, and any later verdict wins over it. An unknown wallet withdraws nothing: a key of another account
 * or an erasure by the provider would look the same.
 */
function statementOf({ provider, log }: Context, { recheck, held }: Due, finding: Finding) {
  if ('statement' in finding) return finding.statement
  if (held?.state !== 'verified' || held.provider !== provider.name) return undefined
  if ('undated' in finding) return { ...finding.undated, occurredAtMs: held.decidedAt.getTime() }
  const { wallet } = recheck
  log.alarm({ wallet }, 'verified wallet unknown to identity provider')
  return undefined
}
