import type { Database } from '#shared/db/open'
import { pause, within } from '#shared/deadline'
import { type Finding, type IdentityProvider, ProviderDown } from './identity-provider.ts'
import { type Due, leaseDue, planNext, standingOf } from './recheck.store.ts'
import { nextCheckAt, retryAt } from './schedule.ts'
import { applyStatement, type VerdictParts } from './verdict.reactions.ts'

/** So many questions are under way at once. */
const concurrency = 4
/** For all the calls about one person; much shorter than the lease of their row. */
const lookUpDeadlineMs = 15_000

/** What asking the provider needs; `poke` tells the outbox that something is to be sent. */
export type RecheckParts = VerdictParts & {
  provider: Pick<IdentityProvider, 'name' | 'lookUp'>
  database: Database
  sweepEveryMs: number
  recheck: { perMinute: number }
  poke: () => void
}

/**
 * Asks the identity provider about everybody whose turn it is, until disposed. A webhook answered
 * `recorded` can still be lost with the store of its stream, or may never come: what the provider
 * says when it is asked goes through the same decision, so that neither loses a verdict.
 */
export function recheckIdentities(parts: RecheckParts): AsyncDisposable {
  const stop = new AbortController()
  const loop = async () => {
    while (!stop.signal.aborted) {
      await recheckOnce(parts, stop.signal).catch((error) =>
        parts.log.warn({ err: error }, 'identities could not be rechecked'),
      )
      await pause(parts.sweepEveryMs, stop.signal)
    }
  }
  const ended = loop()
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await ended
    },
  }
}

/**
 * One round: those who wait longest first, at most a round's part of the budget. It ends early when
 * nobody of a batch could be asked about: the provider is down, and the others keep their turn.
 */
export async function recheckOnce(parts: RecheckParts, signal?: AbortSignal): Promise<void> {
  const { database, provider, clock, recheck, sweepEveryMs } = parts
  let left = Math.max(1, Math.floor((recheck.perMinute * sweepEveryMs) / 60_000))
  while (left > 0 && !signal?.aborted) {
    const rowsMax = Math.min(left, concurrency)
    const due = await leaseDue(database, provider.name, new Date(clock()), rowsMax)
    const answered = await Promise.all(due.map((one) => recheckOne(parts, one)))
    if (!answered.includes(true)) return
    left -= due.length
  }
}

/** False when there was no answer; then nothing changed, and the next question comes soon. */
async function recheckOne(parts: RecheckParts, due: Due): Promise<boolean> {
  const { wallet } = due.recheck
  try {
    const asked = parts.provider.lookUp(wallet)
    const finding = await within(asked, lookUpDeadlineMs, 'the identity provider')
    await takeFinding(parts, due, finding)
    return true
  } catch (error) {
    const kind = error instanceof ProviderDown ? 'provider' : 'own'
    parts.log.warn({ wallet, kind, err: error }, 'identity could not be asked for')
    const failures = due.recheck.failures + 1
    const again = retryAt(failures, parts.schedule, parts.clock())
    await parts.database.read((db) => planNext(db, due, { nextCheckAt: again, failures }))
    return false
  }
}

async function takeFinding(parts: RecheckParts, due: Due, finding: Finding): Promise<void> {
  const { database, clock, log, schedule } = parts
  const { wallet } = due.recheck
  const statement = statementOf(parts, due, finding)
  const changed = await database.transaction(async (tx) => {
    const decision = statement && (await applyStatement(tx, parts, statement))
    const standing = await standingOf(tx, wallet)
    await planNext(tx, due, {
      nextCheckAt: nextCheckAt(standing, schedule, clock()),
      failures: 0,
      checkedAt: new Date(clock()),
    })
    return decision && 'next' in decision && decision.flag !== null
  })
  if (!changed) return
  log.warn({ wallet, word: statement?.word }, 'verdict found by asking, before any webhook told it')
  parts.poke()
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
function statementOf({ provider, log }: RecheckParts, { recheck, held }: Due, finding: Finding) {
  if ('statement' in finding) return finding.statement
  if (held?.state !== 'verified' || held.provider !== provider.name) return undefined
  if ('undated' in finding) return { ...finding.undated, occurredAtMs: held.decidedAt.getTime() }
  const { wallet } = recheck
  log.error({ wallet, alarm: true }, 'nobody is known to the provider behind a verified wallet')
  return undefined
}
