import { handler } from '#platform/bus/serve'
import type { Tx } from '#platform/db/open'
import { within } from '#platform/deadline'
import { failpoint } from '#platform/failpoint'
import { ChainRef } from '#shared/messages/chain'
import { ReviewResolve } from '#shared/messages/payments'
import { RateFind } from '#shared/messages/pricing'
import type { ReadRequestOf } from '#shared/messages/topic'
import { moneyText } from '#shared/money/text'
import { ok } from '#shared/refusals'
import { askOr, type Context } from '../context'
import { isLate } from '../decide'
import { receiveAgain } from '../incoming/receive'
import { restIn } from '../losses/follow'
import { findReports } from '../losses/refund.store'
import { backOf, splitBack } from '../losses/report'
import { makeGood } from '../losses/reversal'
import { leaveSecond, takeStep } from '../onchain/advance'
import { atLeastZero, limitedMicro, refIdOf, remainderFloor, wasCredited } from '../payment'
import { findPayment, lockPayment } from '../payment.store'
import type { PaymentRow } from '../payment.table'
import { lateWorthFloor } from '../price'
import { orderRefunds } from './refund'
import { acceptanceOf, type Credit, creditOf, ownMinorToRefund, stillOpen } from './resolution'
import { findSeconds, insertResolution, lastResolution, type ResolutionRow } from './resolution.store'
import { worthOfReview } from './worth'

type ResolveRequest = ReadRequestOf<typeof ReviewResolve>
type DecisionOutcome = { done: string } | { refused: string }

/** Executes an operator's decision once; a retry returns the same result. */
export const answerResolve = (context: Context) =>
  handler(ReviewResolve, async (asked) => ok(await resolve(context, asked)), worthOfReview(context))

async function resolve(context: Context, asked: ResolveRequest): Promise<DecisionOutcome> {
  const { database, log, poke } = context
  const { paymentId, resolution, by, reason } = asked
  const seen = await database.read((db) => findPayment(db, paymentId))
  if (!seen) return { refused: `there is no payment ${paymentId}` }
  // guard: operators decide about the payment that they were shown
  if (seen.state === 'review' && asked.approval && asked.approval.terms.seen !== seen.changedAt.toISOString())
    return { refused: `${paymentId} has just changed: review it again` }
  const outside = seen.state === 'review' ? await askOutside(context, seen, asked) : {}
  const outcome = await database.transaction(async (tx): Promise<DecisionOutcome> => {
    const payment = (await lockPayment(tx, paymentId))!
    // guard: a payment in review is decided once
    if (payment.state !== 'review') return repeated(payment, await lastResolution(tx, paymentId), asked)
    // guard: a payment in review is decided once
    if (payment.changedAt.getTime() !== seen.changedAt.getTime())
      return { refused: `${paymentId} has just changed: review it again` }
    if ('refused' in outside) return outside
    const done = await decisions[resolution](tx, context, payment, outside)
    if ('refused' in done) return done
    await insertResolution(tx, { commandId: asked.command, paymentId, resolution, decidedBy: by, reason })
    return done
  })
  failpoint('payments:refund-decided')
  if ('done' in outcome) log.info({ paymentId, resolution, by, reason }, 'payment review resolved by operator')
  poke()
  return outcome
}

/** Returns the outcome of a repeated command, which counts as done if the decision was the same. */
function repeated(
  { id, kind, state }: PaymentRow,
  last: ResolutionRow | undefined,
  asked: ResolveRequest,
): DecisionOutcome {
  const isGiven = kind === 'topup' && (state === 'held' || state === 'credited')
  const hint = isGiven ? ': topups show says how it can be given back' : ''
  if (!last) return { refused: `${id} is ${state}, not in review${hint}` }
  const { resolution, decidedBy, decidedAt, reason } = last
  const earlier = `${resolution} was decided by ${decidedBy} at ${decidedAt.toISOString()} (${reason}); the payment is now ${state}`
  return resolution === asked.resolution ? { done: earlier } : { refused: earlier }
}

/** Answers of other services, fetched before the row is locked. */
type Outside = { readonly presentMinorPerUsd?: bigint }

/**
 * Asks chain and pricing. Only a payment that is neither on the chain nor ordered may be credited again or
 * refunded.
 */
async function askOutside(
  context: Context,
  payment: PaymentRow,
  { resolution }: ResolveRequest,
): Promise<Outside | { refused: string }> {
  if (resolution === 'accept') return {}
  const credit = creditOf(payment, channelOf(context, payment))
  if (resolution === 'credit' && 'not' in credit) return { refused: credit.not }
  const credited = 'refSequence' in credit ? [credit.refSequence] : []
  const sequences = new Set([payment.refSequence, ...credited])
  if (resolution === 'credit' && !(await isReceivedAgain(context, payment)))
    return { refused: 'the payment cannot be read at the provider: try again later' }
  const isOwn = resolution === 'credit' || (ownMinorToRefund(payment) !== 0n && !wasCredited(payment))
  for (const refSequence of isOwn ? sequences : []) {
    const refId = refIdOf({ id: payment.id, refSequence })
    const found = await askOr(context, ChainRef, { refId }, 'chain_unavailable')
    if ('refused' in found) return { refused: 'the chain is unavailable: try again later' }
    // guard: a payment on the chain is neither credited again nor refunded
    if (found.ok.state !== 'unused') return { refused: `ref ${refId} is ${found.ok.state} on the chain` }
  }
  // If part of the payment repaid an earlier loss, that part was priced on arrival, and the rest has the same price.
  const isPriced = payment.recoveredMicro > 0n
  if (resolution !== 'credit' || isPriced || !isLate(payment, payment)) return {}
  const rate = await askOr(context, RateFind, { pair: payment.pair }, 'rate_unavailable')
  if ('refused' in rate) return { refused: 'the payment was late and there is no exchange rate: try again later' }
  return { presentMinorPerUsd: BigInt(rate.ok.rate) }
}

const channelOf = ({ provider }: Context, { channel }: PaymentRow) =>
  channel === null ? 'unknown' : provider.kindOfChannel(channel)

/** Deadline of the provider lookup, in ms, which leaves time for the chain and the rate. */
const lookUpMs = 4_000

/**
 * Receives the payment again, because a refund in the provider's dashboard may not have been reported yet,
 * and it changes the payment. Returns false if the provider cannot be read.
 */
const isReceivedAgain = (context: Context, payment: PaymentRow): Promise<boolean> =>
  within(receiveAgain(context, payment), lookUpMs, 'the payment at the provider').then(
    () => true,
    (err) => {
      context.log.warn({ paymentId: payment.id, err }, 'payment in review lookup failed')
      return false
    },
  )

type Decision = (tx: Tx, context: Context, payment: PaymentRow, outside: Outside) => Promise<DecisionOutcome>

const credit: Decision = async (tx, context, payment, { presentMinorPerUsd }) => {
  const counted = creditOf(payment, channelOf(context, payment))
  if ('not' in counted) return { refused: counted.not }
  const reports = await findReports(tx, payment.providerPaymentId!)
  if (backOf(reports, payment.paidMinor!).isOpen) return stillOpen
  const { currency, kind } = payment
  // Late money that was priced before keeps that rate, unless the current one is worse still.
  // guard: late money is priced again only at a worse rate
  const rateMinorPerUsd = payment.lateRateMinorPerUsd ?? payment.rateMinorPerUsd
  const price = { ...counted, rateMinorPerUsd, currency, kind }
  const late = presentMinorPerUsd ? lateWorthFloor(price, presentMinorPerUsd) : undefined
  const set = { ...counted, ...late, promisedMicro: promisedOf(payment, counted, late) }
  const freeMicro = atLeastZero(remainderFloor({ ...payment, ...set }) - payment.recoveredMicro)
  const isSafe = payment.kind === 'topup' && payment.held === false
  const takenMicro = isSafe ? await makeGood(tx, context, payment, freeMicro) : 0n
  const onchainMicro = freeMicro - takenMicro
  const reason = takenMicro > 0n ? { reason: 'made_good' as const } : {}
  const moved = await takeStep(
    tx,
    context,
    payment,
    { next: 'paid', ...reason },
    {
      ...set,
      topupMicro: limitedMicro(payment, set),
      onchainMicro,
      recoveredMicro: payment.recoveredMicro + takenMicro,
      reason: null,
      refundAppliedMinor: payment.refundedMinor,
    },
  )
  if (moved.onchainMicro === 0n) {
    const credited = await takeStep(tx, context, moved, { next: 'credited', reason: 'made_good' })
    await leaveSecond(tx, context, credited)
  }
  return { done: `${payment.id}: ${moneyText(onchainMicro, 'AUSD')} ordered as ${refIdOf(moved)}` }
}

const promisedOf = (payment: PaymentRow, counted: Credit, late: object | undefined) =>
  counted.promisedMicro ?? (late ? (payment.promisedMicro ?? payment.ausdMicro) : null)

const refund: Decision = async (tx, context, payment) => {
  const { id, currency, providerPaymentId } = payment
  const ownMinor = ownMinorToRefund(payment)
  if (typeof ownMinor !== 'bigint') return { refused: ownMinor.not }
  const own = await findReports(tx, providerPaymentId!)
  const seconds = await findSeconds(tx, id)
  const restMinor = restIn(payment, seconds)
  const whole = backOf(own, (payment.paidMinor ?? payment.fiatMinor) + restMinor)
  const { rest } = splitBack(whole, restMinor)
  const charges = [
    {
      providerPaymentId: providerPaymentId!,
      minor: ownMinor + restMinor - rest.goneMinor,
      isSecond: false,
      isOpen: whole.isOpen,
    },
  ]
  for (const second of seconds) {
    if (second.providerPaymentId === providerPaymentId) continue
    if (second.minor === null || second.currency !== currency)
      return {
        refused: `${second.providerPaymentId} has no exact amount in ${currency}: refund it in the provider's dashboard, then accept the payment`,
      }
    const reports = await findReports(tx, second.providerPaymentId)
    const { goneMinor, isOpen } = backOf(reports, second.minor)
    const minor = second.minor - goneMinor
    charges.push({ providerPaymentId: second.providerPaymentId, minor, isSecond: true, isOpen })
  }
  const owed = charges.filter(({ minor }) => minor > 0n)
  if (owed.some(({ isOpen }) => isOpen)) return stillOpen
  return orderRefunds(tx, context, payment, owed)
}

const accept: Decision = async (tx, context, payment) => {
  const refused = acceptanceOf(payment)
  if (refused) return { refused: refused.not }
  await takeStep(tx, context, payment, { next: 'accepted' })
  return { done: `${payment.id} is accepted as it is` }
}

const decisions: Readonly<Record<ResolveRequest['resolution'], Decision>> = { credit, refund, accept }
