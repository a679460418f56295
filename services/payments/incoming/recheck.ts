import type { Tx } from '#platform/db/open'
import { failpoint } from '#platform/failpoint'
import { idle, startLoop } from '#platform/loop'
import { findListed } from '#shared/provider/listing.store'
import type { Context } from '../context'
import { nextCheck } from '../decide'
import { recheckWallets } from '../losses/reversal'
import { expire, orderEffect } from '../onchain/advance'
import { checkHold } from '../onchain/hold'
import { awaitsRate, isOnHold, mayBeOnHold, states } from '../payment'
import { lockPayment } from '../payment.store'
import type { PaymentRow } from '../payment.table'
import { recordRefusedLookUp } from '../providers/look-up'
import { checkRefunds } from '../review/refund'
import { listings } from '../schema.store'
import { type CheckKind, checkLeaseMs, isDue, leaseDue, planCheck } from './check.store'
import { lookAgain } from './look-again'
import { fetchCheckout, receiveCharge, receiveCheckout, withRate } from './receive'

/** Maximum number of concurrent checks that ask the provider. */
const runningMax = 400
/** Maximum number of checks per round that do not ask the provider: reading the end of a hold, resending an order. */
const withoutProviderMax = 400

const idleMaxMs = 2_000

/**
 * Returns the checks allowed per round: half of the provider's rate limit, because checkouts and webhooks
 * need the other half.
 */
export const checksPerRound = (requestsPerMinute: number, everyMs: number): number =>
  Math.min(200, Math.max(1, Math.floor((requestsPerMinute * everyMs) / 120_000)))

/**
 * Starts the rounds of rechecks. Rounds do not wait for each other, so that a hanging provider cannot delay a
 * hold that is about to end.
 */
export function startRechecking(
  context: Context,
  settings: { recheckEveryMs: number; requestsPerMinute: () => number },
): AsyncDisposable {
  // Rounds come often enough to act within the margin before a hold ends.
  const everyMs = Math.min(settings.recheckEveryMs, Math.max(100, context.holdMarginMs / 8))
  const running = new Set<Promise<void>>()
  let rounds = 0
  const loop = startLoop({
    name: 'recheck',
    everyMs,
    idleMs: Math.max(everyMs, Math.min(2 * everyMs, idleMaxMs)),
    log: context.log,
    work: () => {
      rounds += 1
      const checksMax = checksPerRound(settings.requestsPerMinute(), everyMs)
      return recheckOnce(context, checksMax, { rounds, running })
    },
  })
  return {
    [Symbol.asyncDispose]: async () => {
      await loop[Symbol.asyncDispose]()
      await Promise.all(running)
    },
  }
}

type Rounds = {
  /** Number of this round. The kinds take turns if a round may ask only once. */
  readonly rounds?: number
  /** Set of running checks. If it is given, checks may outlast the round. */
  readonly running?: Set<Promise<void>>
}

/**
 * Asks the provider about at most `checksMax` payments: half are holds and half are others, and each half may
 * use the budget that the other leaves. Returns the idle pause if nothing was due.
 */
export async function recheckOnce(
  context: Context,
  checksMax: number,
  { rounds = 0, running }: Rounds = {},
): Promise<typeof idle | undefined> {
  const { database, clock, poke } = context
  const now = new Date(clock())
  const due = await database.read((db) => isDue(db, now))
  if (due.wallets && (await recheckWallets(context))) poke()
  if (due.looks && (await lookAgain(context))) poke()
  if (!due.payments) return due.wallets || due.looks ? undefined : idle
  const asksMax = Math.min(checksMax, Math.max(1, runningMax - (running?.size ?? 0)))
  const holds = await takeDue(context, now, 'holds', withoutProviderMax)
  const orders = await takeDue(context, now, 'orders', withoutProviderMax)
  const share = asksMax === 1 ? rounds % 2 : Math.floor(asksMax / 2)
  const othersMax = asksMax - Math.min(holds.length, asksMax - share)
  const others = await takeDue(context, now, 'others', othersMax)
  const mayAsk = budgetOf(asksMax - others.length)
  const taken = [...holds, ...orders, ...others]
  const checks = taken.map((payment) => checkAndPlan(context, payment, mayAsk).then(poke))
  if (!running) await Promise.all(checks)
  else
    for (const one of checks) {
      running.add(one)
      void one.finally(() => running.delete(one))
    }
  return taken.length === 0 ? idle : undefined
}

/**
 * Returns a function that takes one call from the budget of `asksMax` provider calls, and returns false if
 * the hold must wait. `isLast`: the hold is about to end.
 */
function budgetOf(asksMax: number): (isLast: boolean) => boolean {
  let left = asksMax
  return (isLast) => {
    // Half of the budget is reserved for holds of this round that turn out to end soon.
    if (left <= 0 || (!isLast && left * 2 <= asksMax)) return false
    left -= 1
    return true
  }
}

async function takeDue(
  { database, listedWithinMs, holdMarginMs }: Context,
  now: Date,
  kind: CheckKind,
  rowsMax: number,
): Promise<PaymentRow[]> {
  if (rowsMax <= 0) return []
  const listed = kind === 'others' ? await findListed(database, listings, 'latest', listedWithinMs) : []
  // guard: another instance takes over from one that was killed while it checked a hold, before the hold ends
  const leaseMs = kind === 'others' ? checkLeaseMs : Math.min(checkLeaseMs, holdMarginMs / 2)
  return database.transaction((tx) => leaseDue(tx, now, kind, rowsMax, { listed, leaseMs }))
}

async function checkAndPlan(
  context: Context,
  payment: PaymentRow,
  mayAsk: (isLast: boolean) => boolean,
): Promise<void> {
  const { database, clock, log, recheckAfterMs } = context
  let isPutOff = false
  const asks = (isLast: boolean): boolean => {
    const may = mayAsk(isLast)
    isPutOff ||= !may && !isLast
    return may
  }
  try {
    const at = await check(context, payment, asks)
    const usual = nextCheck({ ...payment, onHold: isOnHold(payment) }, clock(), recheckAfterMs)
    const isResent = payment.state === 'revoking' || payment.state === 'paid'
    const next = at && usual && isResent && usual < at ? usual : (at ?? usual)
    await database.run((db) => planCheck(db, payment, next, isPutOff))
  } catch (error) {
    // The payment is checked again once the lease expires.
    const { id: paymentId, state } = payment
    await recordRefusedLookUp(context, payment, error).catch(() => {})
    log.warn({ paymentId, state, err: error }, 'payment status check failed')
  }
}

/** Checks one payment. A returned time replaces the usual time of the next check. */
async function check(
  context: Context,
  payment: PaymentRow,
  mayAsk: (isLast: boolean) => boolean,
): Promise<Date | undefined> {
  switch (payment.state) {
    case 'opening':
      await onLocked(context, payment, (tx, row) => expire(tx, context, row))
      return
    case 'paid':
      await resend(context, payment)
      // guard: a hold is watched also before the relayer has reported the order that began it
      return mayBeOnHold(payment) ? checkHold(context, payment, mayAsk) : undefined
    case 'revoking':
      // The first check only makes sure that the hold lasts longer than the revocation.
      if (payment.checks > 1) await resend(context, payment)
      // guard: a hold lasts until its revocation is final
      return isOnHold(payment) ? checkHold(context, payment) : undefined
    case 'refunding':
      await checkRefunds(context, payment)
      return
    case 'held':
    case 'repaid':
      return isOnHold(payment) ? checkHold(context, payment, mayAsk) : undefined
    default:
      if (states[payment.state].unpaid) await (awaitsRate(payment) ? checkLateMoney : checkCheckout)(context, payment)
      return
  }
}

async function resend(context: Context, payment: PaymentRow): Promise<void> {
  await onLocked(context, payment, (tx, row) => orderEffect(tx, row, row.checks))
  context.log.warn({ paymentId: payment.id, state: payment.state }, 'relayer order resent')
}

/** Time after its end for which a checkout of ours may be missing from lookups, in ms. */
const missingMaxMs = 3_600_000

async function checkCheckout(context: Context, payment: PaymentRow): Promise<void> {
  const { database, log } = context
  const { account, checkoutId } = payment
  if (checkoutId === null) return
  const found = await fetchCheckout(context, account, checkoutId)
  if (found.fetched) failpoint('payments:payment-found')
  if (!found.checkout) {
    log.alarm({ paymentId: payment.id }, 'checkout not found at provider')
    // The missing checkout may still be open, or paid.
    const { expiresAt } = payment
    if (expiresAt && context.clock() < expiresAt.getTime() + missingMaxMs) return
    await onLocked(context, payment, (tx, row) => expire(tx, context, row))
    return
  }
  const paid = await database.transaction((tx) => receiveCheckout(tx, context, account, found))
  if (paid) failpoint('payments:paid-committed')
}

async function checkLateMoney(context: Context, payment: PaymentRow): Promise<void> {
  const { database, provider } = context
  const { account, providerPaymentId } = payment
  if (!providerPaymentId) return
  const fetched = await withRate(context, await provider.findCharge(account, providerPaymentId))
  if (fetched) await database.transaction((tx) => receiveCharge(tx, context, fetched))
}

/** Runs `work` on the locked row, unless its state has changed since the row was leased. */
const onLocked = (
  { database }: Context,
  { id, state }: PaymentRow,
  work: (tx: Tx, row: PaymentRow) => Promise<void> | void,
) =>
  database.transaction(async (tx) => {
    const row = await lockPayment(tx, id)
    if (row?.state === state) await work(tx, row)
  })
