import { sql } from 'drizzle-orm'
import type { Tx } from '#shared/db/open'
import { announce } from '#shared/db/outbox.store'
import { idFor } from '#shared/ids'
import type { Log } from '#shared/log'
import { PayoutPaid, type PayoutReturned, type PayoutTaken } from '#shared/messages/payouts'
import { ReturnOrdered, TakeOrdered } from '#shared/messages/relay'
import type { Topic } from '#shared/messages/topic'
import { type AnomalyKind, recordAnomaly } from './anomaly.store.ts'
import { type Cashout, lockCashout, moveCashout, noteCashout } from './cashout.store.ts'
import { type Evidence, receivePayoutStatus, type Step } from './cashout.ts'
import type { Reason } from './reason.ts'
import { outbox } from './schema.store.ts'

/** One message of each topic per payout, for ever. */
const messageIdOf = (topic: Topic, payoutId: string) =>
  idFor('message', `${topic.subject}:${payoutId}`)

/**
 * A repeat is a message of its own, named by the look that asks for it: the broker drops an id that
 * it saw within the last minutes. The relayer knows the payout, acts once, and says its outcome.
 */
const repeatIdOf = (topic: Topic, { id, state, looks }: Cashout) =>
  idFor('message', `${topic.subject}:${id}:${state}:${looks}`)

const factOf = ({ id, wallet, fiatMinor, ausdMicro }: Cashout) => ({
  payoutId: id,
  wallet,
  fiat: fiatMinor.toString(),
  ausd: ausdMicro.toString(),
})

/** Says what became of a cash-out, in the transaction that made it so. */
export const announceFact = (
  tx: Tx,
  topic: typeof PayoutTaken | typeof PayoutPaid | typeof PayoutReturned,
  cashout: Cashout,
) => announce(tx, outbox, topic, messageIdOf(topic, cashout.id), factOf(cashout))

/** Orders the AUSD to be moved, in the transaction that stores the cash-out. */
export const orderTake = (tx: Tx, id: string, authorization: Cashout['authorization']) =>
  announce(tx, outbox, TakeOrdered, messageIdOf(TakeOrdered, id), { payoutId: id, authorization })

export const repeatTake = (tx: Tx, cashout: Cashout) => {
  const { id: payoutId, authorization } = cashout
  const order = { payoutId, authorization }
  return announce(tx, outbox, TakeOrdered, repeatIdOf(TakeOrdered, cashout), order)
}

const returnOf = ({ id, wallet, ausdMicro }: Cashout) => ({
  payoutId: id,
  wallet,
  ausd: ausdMicro.toString(),
})

export const repeatReturn = (tx: Tx, cashout: Cashout) =>
  announce(tx, outbox, ReturnOrdered, repeatIdOf(ReturnOrdered, cashout), returnOf(cashout))

/** The sweeper's first look at a new state, if nothing happens before. */
export type Waits = { sweepAfterMs: number }
export const soon = ({ sweepAfterMs }: Waits) =>
  sql`now() + ${sweepAfterMs} * interval '1 millisecond'`

/** Gives the AUSD back, once: the order's id comes from the payout. False when it was a lost race. */
export async function startReturn(
  tx: Tx,
  id: string,
  because: { reason: Reason; failureCode: string | null },
  desk: Waits & { log: Log },
): Promise<boolean> {
  const cashout = await moveCashout(tx, id, 'returning', { ...because, lookAt: soon(desk) })
  if (!cashout) return false
  await announce(tx, outbox, ReturnOrdered, messageIdOf(ReturnOrdered, id), returnOf(cashout))
  desk.log.info({ payoutId: id, ...because }, 'return ordered')
  return true
}

/** What the provider says, whoever asked: webhook, attempt and sweeper all come through here. */
export async function recordEvidence(
  tx: Tx,
  evidence: Evidence,
  desk: Waits & { log: Log },
): Promise<Step> {
  const cashout = await lockCashout(tx, evidence.referenceId)
  const { payoutId, word, failureCode } = evidence
  if (!cashout) {
    await reportOddity(tx, 'payout_unknown', evidence, undefined, desk.log)
    return { stay: true }
  }
  const step = receivePayoutStatus(cashout, evidence)
  if ('odd' in step) {
    await reportOddity(tx, step.odd, evidence, cashout.id, desk.log)
    return step
  }
  await noteCashout(tx, cashout.id, { providerPayoutId: payoutId, ...newer(cashout, evidence) })
  if ('stay' in step) return step
  if (step.next === 'paid') {
    const paid = await moveCashout(tx, cashout.id, 'paid', {
      paidAt: sql`now()`,
      lookAt: soon(desk),
    })
    if (paid) await announceFact(tx, PayoutPaid, paid)
    if (paid) desk.log.info({ payoutId: cashout.id }, 'payout paid')
  } else
    await startReturn(
      tx,
      cashout.id,
      { reason: step.reason, failureCode: failureCode ?? word },
      desk,
    )
  return step
}

/** What is final is not overwritten by an older look. */
const newer = ({ providerStatus, state }: Cashout, { status, word }: Evidence) =>
  providerStatus === 'REVERSED' || (status === 'pending' && state !== 'paying')
    ? {}
    : { providerStatus: word }

async function reportOddity(
  tx: Tx,
  kind: AnomalyKind,
  evidence: Evidence,
  payoutId: string | undefined,
  log: Log,
) {
  const says = `${evidence.word} ${evidence.currency} ${evidence.amountMinor ?? '?'}`
  const object = evidence.payoutId
  const first = await recordAnomaly(tx, { kind, object, says, ...(payoutId ? { payoutId } : {}) })
  if (first) log.error({ kind, object, payoutId, says, alarm: true }, 'payout does not fit')
}
