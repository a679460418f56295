import type { Database } from '#shared/db/open'
import { failpoint } from '#shared/failpoint'
import type { Log } from '#shared/log'
import { type ProviderMeaning, ProviderUnknown } from '#shared/provider/problem'
import { type AnomalyKind, recordAnomaly } from './anomaly.store.ts'
import type { DetailsSafe } from './bank-details.ts'
import {
  type Attempt,
  type Cashout,
  countAttempt,
  findCashout,
  lockCashout,
  moveCashout,
} from './cashout.store.ts'
import { aboutOf, believeRefusal, decisive, type Evidence } from './cashout.ts'
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
    if (evidence) return learn(paying, evidence)
    return callPerson(paying, cashout, 'payout_lost', cashout.providerPayoutId)
  }
  if (!(await lookUp(paying, cashout))) await attempt(paying, cashout)
}

/** Learns what the provider has under our reference; false when it says that there is nothing. */
async function lookUp(paying: Paying, { id }: Cashout): Promise<boolean> {
  const found = await paying.provider.findByReference(id)
  for (const evidence of decisive(found)) await learn(paying, evidence)
  return found.length > 0
}

async function attempt(paying: Paying, before: Cashout): Promise<void> {
  const order = orderOf(paying, before)
  const counted = await countAttempt(paying.database, before.id)
  if (!counted) return
  failpoint('payouts:before-provider')
  const answer = await paying.provider.create(order)
  failpoint('payouts:provider-answered')
  if ('refused' in answer) return refused(paying, counted, answer.refused)
  if (answer.ok.referenceId !== before.id) throw new Error('the provider answered another payout')
  return learn(paying, answer.ok)
}

async function refused(
  paying: Paying,
  { cashout, sincePreviousMs }: Attempt,
  { code, meaning }: { code: string; meaning: ProviderMeaning },
): Promise<void> {
  const about = aboutOf(meaning)
  if (about === 'later') return
  if (about === 'nothing') return callPerson(paying, cashout, 'provider_refuses', code)
  if (await lookUp(paying, cashout)) return
  if (about === 'conflict') return callPerson(paying, cashout, 'key_taken', code)
  const { attempts } = cashout
  if (!believeRefusal({ meaning, found: 0, attempts, sincePreviousMs })) return
  await giveBack(paying, cashout, code)
}

/** Orders the return, unless another attempt was counted meanwhile: that one may be accepted. */
async function giveBack(paying: Paying, { id, attempts }: Cashout, code: string): Promise<void> {
  const because = { reason: 'provider_refused', failureCode: code } as const
  const started = await paying.database.transaction(async (tx) => {
    const current = await lockCashout(tx, id)
    return current?.attempts === attempts && startReturn(tx, id, because, paying)
  })
  if (!started) return
  paying.poke()
  failpoint('payouts:return-ordered')
}

/** Nothing moves by itself any further: whoever can mend it is called, once. */
async function callPerson(
  { database, log }: Paying,
  { id }: Cashout,
  kind: AnomalyKind,
  says: string,
): Promise<void> {
  const anomaly = { kind, object: id, payoutId: id, says }
  const first = await database.read((db) => recordAnomaly(db, anomaly))
  if (first) log.error({ payoutId: id, kind, says, alarm: true }, 'payout cannot go on')
}

/** A look-up that was refused says nothing of the payout, and nobody but a person can mend it. */
export async function noteRefusal(paying: Paying, cashout: Cashout, error: unknown): Promise<void> {
  if (!(error instanceof ProviderUnknown) || !error.refusal) return
  await callPerson(paying, cashout, 'provider_refuses', error.refusal.code)
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
