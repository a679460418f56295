import { within } from '#shared/deadline'
import { failpoint } from '#shared/failpoint'
import type { Context } from '../context'
import { nextCheckAt, retryAt, scheduleOf } from './identity'
import { type Finding, ProviderDown } from './provider'
import { type Due, leaseDue, planNext, standingOf } from './recheck.store'
import { applyStatement } from './verdict'

/** So many questions are under way at once. */
const concurrency = 4
/** For all the calls about one person; much shorter than the lease of their row. */
const lookUpDeadlineMs = 15_000

/**
 * One round of asking the identity provider about everybody whose turn it is. A webhook answered
 * `recorded` can still be lost with the store of its stream, or may never come: what the provider
 * says when it is asked goes through the same decision, so that neither loses a verdict.
 *
 * Those who wait longest come first, at most a round's part of this copy's budget. It ends early when nobody
 * of a batch could be asked about: the provider is down, and the others keep their turn.
 */
export async function recheckOnce(context: Context, signal?: AbortSignal): Promise<void> {
  const { config, copies, database, provider, clock } = context
  const perMinute = config.identityRechecksPerMinute / copies.count()
  const budget = (perMinute * config.sweepEveryMs) / 60_000
  let left = Math.max(1, Math.floor(budget))
  while (left > 0 && !signal?.aborted) {
    const rowsMax = Math.min(left, concurrency)
    const due = await database.transaction((tx) =>
      leaseDue(tx, provider.name, new Date(clock()), rowsMax),
    )
    const answered = await Promise.all(due.map((one) => recheckOne(context, one)))
    if (!answered.includes(true)) return
    left -= due.length
  }
}

/** False when there was no answer; then nothing changed, and the next question comes soon. */
async function recheckOne(context: Context, due: Due): Promise<boolean> {
  const { wallet } = due.recheck
  try {
    const asked = context.provider.lookUp(wallet)
    const finding = await within(asked, lookUpDeadlineMs, 'the identity provider')
    failpoint('gateway:identity-found')
    await takeFinding(context, due, finding)
    return true
  } catch (error) {
    const kind = error instanceof ProviderDown ? 'provider' : 'own'
    context.log.warn({ wallet, kind, err: error }, 'identity could not be asked for')
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
  const changed = await database.transaction(async (tx) => {
    const decision = statement && (await applyStatement(tx, context, statement))
    const standing = await standingOf(tx, wallet)
    await planNext(tx, due, {
      nextCheckAt: nextCheckAt(standing, scheduleOf(config), clock()),
      failures: 0,
      checkedAt: new Date(clock()),
    })
    return decision && 'next' in decision && decision.flag !== null
  })
  if (!changed) return
  log.warn({ wallet, word: statement?.word }, 'verdict found by asking, before any webhook told it')
  context.poke()
}

/**
 * What is found, as a statement. One without a time refutes the verdict that we held before asking,
 * so it carries that one's moment: of two at the same moment the one against the person counts, and
 * whatever was decided since stands.
 *
 * That nobody is known under the wallet withdraws nothing. A key of another account or environment
 * says it of everybody, a changed reference or an erasure at the end of a retention period of people
 * nobody judged; none of that is a verdict. `deleted` in a person's own record is one.
 */
function statementOf({ provider, log }: Context, { recheck, held }: Due, finding: Finding) {
  if ('statement' in finding) return finding.statement
  if (held?.state !== 'verified' || held.provider !== provider.name) return undefined
  if ('undated' in finding) return { ...finding.undated, occurredAtMs: held.decidedAt.getTime() }
  const { wallet } = recheck
  log.error({ wallet, alarm: true }, 'nobody is known to the provider behind a verified wallet')
  return undefined
}
