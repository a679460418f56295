import type { Database } from '#shared/db/open'
import { failpoint } from '#shared/failpoint'
import type { Log } from '#shared/log'
import { recordAnomaly } from './anomaly.store.ts'
import type { DetailsSafe } from './bank-details.ts'
import { type Cashout, countAttempt, findCashout, moveCashout } from './cashout.store.ts'
import { believeRefusal, type Evidence } from './cashout.ts'
import type { PayoutOrder, PayoutProvider } from './payout-provider.ts'
import { recordEvidence, soon, startReturn } from './status.store.ts'

export type Paying = {
  database: Database
  provider: PayoutProvider
  safe: DetailsSafe
  sweepAfterMs: number
  log: Log
  /** Called after a commit, for the outbox. */
  poke: () => void
}

/**
 * Pays what was taken. `paying` and the attempt are committed before the provider is asked, so that
 * after a crash anywhere we know that it may have been asked. Throws on an unclear answer: the row
 * stays `paying` and the sweeper asks again, under the same key.
 */
export async function payTaken(paying: Paying, cashout: Cashout): Promise<void> {
  failpoint('payouts:taken')
  const started = await paying.database.read((db) =>
    moveCashout(db, cashout.id, 'paying', { lookAt: soon(paying) }),
  )
  if (started) await attempt(paying, started)
}

/** Asks for what is known first: a key may be forgotten in time, a reference is not. */
export async function payAgain(paying: Paying, cashout: Cashout): Promise<void> {
  const { provider } = paying
  if (cashout.providerPayoutId !== null) {
    const evidence = await provider.find(cashout.providerPayoutId)
    if (!evidence) throw new Error('the provider does not know its own payout any more')
    return learn(paying, evidence)
  }
  const found = await provider.findByReference(cashout.id)
  if (found.length === 0) return attempt(paying, cashout)
  for (const evidence of found) await learn(paying, evidence)
}

async function attempt(paying: Paying, before: Cashout): Promise<void> {
  const order = orderOf(paying, before)
  const cashout = await paying.database.read((db) => countAttempt(db, before.id))
  if (!cashout) return
  failpoint('payouts:before-provider')
  const answer = await paying.provider.create(order)
  failpoint('payouts:provider-answered')
  if ('ok' in answer) {
    if (answer.ok.referenceId !== cashout.id)
      throw new Error('the provider answered another payout')
    return learn(paying, answer.ok)
  }
  const sincePreviousMs = before.attemptedAt ? Date.now() - before.attemptedAt.getTime() : Infinity
  await refused(paying, cashout, answer.refused, sincePreviousMs)
}

async function refused(
  paying: Paying,
  cashout: Cashout,
  refusal: { code: string; meaning: string },
  sincePreviousMs: number,
): Promise<void> {
  const { database, provider, log } = paying
  const conflict = refusal.meaning === 'conflict'
  const found = await provider.findByReference(cashout.id)
  for (const evidence of found) await learn(paying, evidence)
  const { attempts } = cashout
  const { code } = refusal
  if (believeRefusal({ conflict, found: found.length, attempts, sincePreviousMs })) {
    const because = { reason: 'provider_refused', failureCode: code } as const
    await database.transaction((tx) => startReturn(tx, cashout.id, because, paying))
    paying.poke()
    failpoint('payouts:return-ordered')
  } else if (conflict && found.length === 0) {
    const anomaly = {
      kind: 'key_taken',
      object: cashout.id,
      payoutId: cashout.id,
      says: code,
    } as const
    const first = await database.read((db) => recordAnomaly(db, anomaly))
    if (first) log.error({ payoutId: cashout.id, code, alarm: true }, 'idempotency key is taken')
  }
}

async function learn(paying: Paying, evidence: Evidence): Promise<void> {
  const step = await paying.database.transaction((tx) => recordEvidence(tx, evidence, paying))
  paying.poke()
  failpoint('payouts:status-committed')
  if ('next' in step && step.next === 'returning') failpoint('payouts:return-ordered')
}

/** The same row always makes the same order. Throws when the key of the sealed details is gone. */
function orderOf({ safe }: Paying, cashout: Cashout): PayoutOrder {
  const sealed = { keyId: cashout.bankDetailsKeyId, box: cashout.bankDetails }
  const details = safe.open(sealed, cashout.id)
  return {
    id: cashout.id,
    fiatMinor: cashout.fiatMinor,
    channelCode: cashout.channelCode,
    ...details,
  }
}

/** Looks once more whether a finished transfer was sent back. */
export async function checkPaid(paying: Paying, cashout: Cashout): Promise<void> {
  const current = await paying.database.read((db) => findCashout(db, cashout.id))
  if (current?.state === 'paid') await payAgain(paying, current)
}
