import { fromNow } from '#platform/db/columns'
import { failpoint } from '#platform/failpoint'
import { findBalances } from '#shared/ledger/journal.store'
import { type ProblemMeaning, ProviderUnknown } from '#shared/provider/problem'
import { apiOf, countAttempt, lockCashout, moveCashout, moveToAttempt } from '../cashout.store'
import type { Cashout } from '../cashout.table'
import type { Context } from '../context'
import { believeRefusal, decisive, refusalScope } from '../decide'
import { decisiveOf, findPayouts, receiveEvidence } from '../incoming/receive'
import { startReturn } from '../onchain/advance'
import type { Evidence, PayoutOrder } from '../provider'
import { type AnomalyKind, journal, recordAnomaly } from '../schema.store'

/**
 * Pays a taken cash-out. `paying` and the attempt are committed before the provider is called, so that a
 * crash leaves a trace. Throws on an unclear response: the row stays `paying` and is retried under the same
 * key. A late row may come from a backup and is looked up first, because the lifetime of a key is
 * undocumented. It stays `taken` until the response, so that an operator can hold it as long as the provider cannot be read.
 */
export async function payTaken(context: Context, cashout: Cashout, { isLate = false } = {}): Promise<void> {
  failpoint('payouts:taken')
  const { database, recheckAfterMs } = context
  const isKnown = cashout.providerPayoutId !== null
  let found: readonly Evidence[] = []
  // guard: a payout is looked up before it is ordered again
  if (isLate && !isKnown && !cashout.heldByOperator) found = await lookUp(context, cashout)
  if (!isKnown && found.length === 0) return attempt(context, cashout, startPaying)
  const nextCheckAt = fromNow(recheckAfterMs)
  const started = await database.run((db) => moveCashout(db, cashout.id, 'paying', { nextCheckAt }))
  if (!started) return
  if (isKnown) await payAgain(context, started)
  else await learnFound(context, found)
}

/**
 * Moves a taken cash-out to `paying` and counts its attempt. Returns undefined if another instance moved it first, or a payout
 * became known.
 */
async function startPaying(
  { database, provider, recheckAfterMs }: Context,
  before: Cashout,
): Promise<Attempt | undefined> {
  const nextCheckAt = fromNow(recheckAfterMs)
  const cashout = await database.run((db) => moveToAttempt(db, before, provider.apis[0], nextCheckAt))
  return cashout && attemptOf(cashout, before)
}

/**
 * Retries a payout, or follows one that was made. It is looked up first, because the provider may forget a key, but not a
 * reference.
 */
export async function payAgain(context: Context, cashout: Cashout): Promise<void> {
  const { providerPayoutId } = cashout
  if (providerPayoutId !== null) {
    if (!(await follow(context, cashout, providerPayoutId)))
      await raiseAlert(context, cashout, 'payout_lost', providerPayoutId)
    return
  }
  // guard: a payout is looked up before it is ordered again
  if (!(await isFound(context, cashout))) await attempt(context, cashout, beginAttempt)
}

/** Returns true if the provider has a payout of this cash-out, by its id or by its reference, which is then followed. */
export async function isAtProvider(context: Context, cashout: Cashout): Promise<boolean> {
  const { providerPayoutId } = cashout
  return (providerPayoutId !== null && (await follow(context, cashout, providerPayoutId))) || isFound(context, cashout)
}

/** Fetches a payout and receives it. Returns false if the provider does not know it. */
async function follow(context: Context, cashout: Cashout, providerPayoutId: string): Promise<boolean> {
  const evidence = await context.provider.find(providerPayoutId)
  failpoint('payouts:payout-found')
  if (!evidence) return false
  // guard: a payout leaves suspense by the next answer that fits, also if it repeats what is known
  if (isKnownSuccess(cashout, evidence) && !(await isInSuspense(context, providerPayoutId))) return true
  await learnAll(context, await decisiveOf(context, [evidence]))
  return true
}

/** Returns true if the provider repeats the success that a paid cash-out has recorded, as most checks of one do. */
const isKnownSuccess = (
  { id, state, providerPayoutId, providerStatus, fiatMinor }: Cashout,
  { payoutId, referenceId, status, word, amountMinor, currency }: Evidence,
): boolean =>
  state === 'paid' &&
  status === 'succeeded' &&
  payoutId === providerPayoutId &&
  referenceId === id &&
  word === providerStatus &&
  amountMinor === fiatMinor &&
  currency === 'IDR'

/** Returns true if an earlier answer about a payout did not fit its cash-out. */
async function isInSuspense({ database }: Context, payoutId: string): Promise<boolean> {
  const wanted = { account: 'suspense', asset: 'IDR', items: [payoutId] } as const
  const balances = await database.read((db) => findBalances(db, journal, wanted))
  return (balances.get(payoutId) ?? 0n) !== 0n
}

const isFound = async (context: Context, cashout: Cashout): Promise<boolean> =>
  learnFound(context, await lookUp(context, cashout))

async function lookUp(context: Context, cashout: Cashout): Promise<readonly Evidence[]> {
  const found = await findPayouts(context, cashout)
  failpoint('payouts:payout-looked-up')
  return found
}

async function learnFound(context: Context, found: readonly Evidence[]): Promise<boolean> {
  await learnAll(context, decisive(found))
  return found.length > 0
}

type Attempt = {
  readonly cashout: Cashout
  /** Time since the previous attempt of any instance, in ms; infinite for the first. */
  readonly sincePreviousMs: number
}

const attemptOf = (cashout: Cashout, { attemptedAt: previousAt }: Cashout): Attempt => ({
  cashout,
  sincePreviousMs: previousAt ? cashout.attemptedAt!.getTime() - previousAt.getTime() : Number.POSITIVE_INFINITY,
})

/** Counts an attempt of a cash-out that is `paying`. Returns undefined if a payout became known or none is due. */
export async function beginAttempt(
  { database, provider }: Context,
  { id }: Pick<Cashout, 'id'>,
): Promise<Attempt | undefined> {
  const begun = await database.transaction(async (tx) => {
    const before = await lockCashout(tx, id)
    // guard: an attempt is counted only while the cash-out may be paid
    if (before?.state !== 'paying') return undefined
    if (before.providerPayoutId !== null) return undefined
    return { before, counted: countAttempt(tx, before, provider.apis[0]) }
  })
  const cashout = begun?.counted()
  return begun && cashout && attemptOf(cashout, begun.before)
}

async function attempt(
  context: Context,
  before: Cashout,
  begin: (context: Context, before: Cashout) => Promise<Attempt | undefined>,
): Promise<void> {
  const { provider } = context
  const order = orderOf(context, before)
  // guard: an attempt is committed before the provider is called
  const counted = await begin(context, before)
  if (!counted) return
  failpoint('payouts:before-provider')
  const answer = await provider.create(order, apiOf(counted.cashout, provider.apis[0]))
  failpoint('payouts:provider-answered')
  if ('refused' in answer) return refused(context, counted, answer.refused)
  if (answer.ok.referenceId !== before.id) throw new Error('the provider returned another payout')
  await learnAll(context, await decisiveOf(context, [answer.ok]))
}

async function refused(
  context: Context,
  { cashout, sincePreviousMs }: Attempt,
  { code, meaning }: { code: string; meaning: ProblemMeaning },
): Promise<void> {
  const about = refusalScope(meaning)
  if (about === 'later') return
  if (about === 'nothing') return raiseAlert(context, cashout, 'provider_refuses', code)
  if (await isFound(context, cashout)) return
  if (about === 'conflict') return raiseAlert(context, cashout, 'key_taken', code)
  const { attempts } = cashout
  if (!believeRefusal({ meaning, found: 0, attempts, sincePreviousMs })) return
  await returnUnmade(context, cashout, code)
}

/**
 * Returns the AUSD of a payout that was not made, as `seen` before its look-up. Returns false if a later attempt was counted
 * since, which may be accepted, or if the payout has become known.
 */
export async function returnUnmade(context: Context, seen: Cashout, failureCode: string): Promise<boolean> {
  const started = await context.database.transaction(async (tx) => {
    const current = await lockCashout(tx, seen.id)
    if (current?.state !== 'paying') return false
    // guard: nothing is returned while a later attempt may be accepted
    if (current.attempts !== seen.attempts) return false
    const { providerPayoutId, providerStatus } = current
    // guard: nothing is returned for a payout that has become known since it was looked up
    if (providerPayoutId !== seen.providerPayoutId || providerStatus !== seen.providerStatus) return false
    startReturn(tx, context, current, { reason: 'provider_refused', failureCode })
    return true
  })
  if (!started) return false
  context.poke()
  failpoint('payouts:return-ordered')
  return true
}

async function raiseAlert({ database, log }: Context, { id }: Cashout, kind: AnomalyKind, says: string): Promise<void> {
  const anomaly = { kind, object: id, payoutId: id, says }
  const first = await database.run((db) => recordAnomaly(db, anomaly))
  if (first) log.alarm({ payoutId: id, kind, says }, 'payout needs manual review')
}

/** Records a refused lookup, which leaves the state of the payout unknown. */
export async function recordRefusal(context: Context, cashout: Cashout, error: unknown): Promise<void> {
  if (!(error instanceof ProviderUnknown) || !error.refusal) return
  await raiseAlert(context, cashout, 'provider_refuses', error.refusal.code)
}

async function learnAll(context: Context, found: readonly Evidence[]): Promise<void> {
  for (const evidence of found) await recordEvidence(context, evidence)
}

async function recordEvidence(context: Context, evidence: Evidence): Promise<void> {
  const step = await context.database.transaction((tx) => receiveEvidence(tx, context, evidence))
  context.poke()
  failpoint('payouts:status-committed')
  if ('next' in step && step.next === 'returning') failpoint('payouts:return-ordered')
}

/** Builds the order of a row, which is always the same. Throws if the key of its bank details is missing. */
function orderOf({ safe }: Context, cashout: Cashout): PayoutOrder {
  const sealed = { keyId: cashout.bankDetailsKeyId, box: cashout.bankDetails }
  const details = safe.open(sealed, cashout.id)
  return {
    id: cashout.id,
    fiatMinor: cashout.fiatMinor,
    channelCode: cashout.channelCode,
    ...details,
    promised: {
      wallet: cashout.wallet,
      quote_id: cashout.quoteId,
      request_fingerprint: cashout.requestFingerprint,
      rate: cashout.rateMinorPerUsd.toString(),
      ...(cashout.spreadBps !== 0 ? { spread: String(cashout.spreadBps) } : {}),
      ...(cashout.feeMinor > 0n ? { fee: cashout.feeMinor.toString() } : {}),
      ausd: cashout.ausdMicro.toString(),
      authorization_nonce: cashout.authorizationNonce,
    },
  }
}
