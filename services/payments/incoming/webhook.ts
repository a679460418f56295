import { noNews, type Reaction, reactTo } from '#platform/bus/reaction'
import { ageMs, isRecent } from '#platform/clock'
import type { Db, Tx } from '#platform/db/open'
import type { Message } from '#shared/messages/topic'
import { PaymentsWebhook } from '#shared/messages/webhooks'
import { noneOfItsForm, refusesId } from '#shared/provider/problem'
import type { Context } from '../context'
import { receiveDoubt } from '../losses/follow'
import { planLookBy, recordReport } from '../losses/refund.store'
import { confirmMs, voidId } from '../losses/report'
import { paymentIdFrom, paymentIdIn } from '../payment'
import { findByCheckout, findByProviderIds, findPayment } from '../payment.store'
import type { PaymentRow } from '../payment.table'
import type { FetchedCharge, FetchedDispute, FetchedRefund, Hint } from '../provider'
import { findRefunded, recordRefusedLookUp } from '../providers/look-up'
import { recordAnomaly } from '../schema.store'
import { alertOfEvidence, findDisputed, receiveDispute } from './dispute'
import { type FetchedCheckout, fetchCheckout, receiveCharge, receiveCheckout, receiveRefund, withRate } from './receive'

type Delivery = Message<typeof PaymentsWebhook>
type WebhookFacts = FetchedCheckout & {
  readonly refund?: FetchedRefund | undefined
  readonly dispute?: FetchedDispute | undefined
  readonly isNamed?: boolean
  readonly isUnpaid?: boolean
}
type ReadWebhook = WebhookFacts & { hint: Hint }

export const webhookReactions = (context: Context): Reaction[] => [
  reactTo<typeof PaymentsWebhook, ReadWebhook>(PaymentsWebhook, {
    // Payout events belong to the payouts service, which reads the same stream.
    concerns: ({ body }) => context.provider.readDelivery(body).about !== 'payout',
    // The provider sends a webhook of the checkout and one of the payment at the same moment.
    orderOf: ({ body }) => {
      const hint = context.provider.readDelivery(body)
      return 'reference' in hint ? paymentIdFrom(hint.reference ?? '') : undefined
    },
    find: async ({ account, body, receivedAt }) => {
      const hint = context.provider.readDelivery(body)
      const named = await findPaid(context, account, hint)
      if (isJustReceived(context, hint, named)) return noNews
      const facts = await fetchFacts(context, account, hint, named).catch((error) =>
        noSuchObject(context, account, hint, error),
      )
      const waitedMs = ageMs(Date.parse(receivedAt), context.clock())
      if (isMissing(hint, facts) && waitedMs < insistMs) {
        await context.database.transaction((tx) => doubtNamed(tx, context, account, hint))
        await insistOnOurs(context, account, hint)
      }
      return { hint, ...facts }
    },
    apply: (tx, delivery, read) => receive(tx, context, delivery, read),
  }),
]

/** Time after the receipt of a payment in which the other webhook of the same moment arrives, in ms. */
const sameMomentMs = 10_000

/**
 * Returns true if the webhook says only that a payment has succeeded which was received a moment ago. The provider
 * sends one webhook of the checkout and one of the payment. Whatever else has become of the payment is told by other
 * webhooks, rechecks and the list.
 */
function isJustReceived({ clock }: Context, hint: Hint, payment: PaymentRow | undefined): boolean {
  return (
    'paidBy' in hint &&
    payment !== undefined &&
    payment.providerPaymentId === hint.paidBy &&
    (payment.state === 'paid' || payment.state === 'credited' || payment.state === 'held') &&
    isRecent(payment.updatedAt.getTime(), clock(), sameMomentMs)
  )
}

/** Finds the payment that the webhook of a paid checkout or charge names. */
const findPaid = async ({ database }: Context, account: Delivery['account'], hint: Hint) =>
  'paidBy' in hint && hint.paidBy ? database.read((db) => findNamed(db, account, hint)) : undefined

async function fetchFacts(
  context: Context,
  account: Delivery['account'],
  hint: Hint,
  named: PaymentRow | undefined,
): Promise<WebhookFacts> {
  const { provider } = context
  const priced = async (charge: FetchedCharge | Promise<FetchedCharge | null | undefined>) => ({
    isUnpaid: (await charge) === null,
    fetched: await withRate(context, await charge, { named }),
  })
  switch (hint.about) {
    case 'checkout': {
      const charge = await findPaidBy(context, account, hint)
      return charge ? priced(charge) : fetchCheckout(context, account, hint.checkoutId)
    }
    case 'payment':
      return priced(provider.findCharge(account, hint.paymentId))
    case 'payment_request':
      return priced(provider.findChargeOfRequest(account, hint.paymentRequestId))
    case 'refund': {
      const refund = await provider.findRefund(account, hint.refundId)
      return refund ? { refund, ...(await priced(findRefunded(provider, account, refund))) } : {}
    }
    case 'dispute': {
      const dispute = await provider.findDispute(account, hint.disputeId)
      const disputed = dispute && (await findDisputed(context, account, dispute))
      return dispute
        ? { dispute, isNamed: disputed?.isNamed ?? false, fetched: await withRate(context, disputed?.charge) }
        : {}
    }
    default:
      return {}
  }
}

/**
 * Finds the payment that a webhook of a paid checkout names, which makes a look-up of the checkout unnecessary. Undefined if
 * it did not succeed, or if its own reference leads to another payment of ours than that of the checkout.
 */
async function findPaidBy(
  { provider }: Context,
  account: Delivery['account'],
  { paidBy, reference }: Extract<Hint, { about: 'checkout' }>,
): Promise<FetchedCharge | undefined> {
  const named = paymentIdFrom(reference ?? '')
  if (!paidBy || !named) return undefined
  const found = await provider.findCharge(account, paidBy).catch(noneOfItsForm)
  // guard: the payment that a webhook names is received only if it is that of the checkout
  if (found && paymentIdFrom(found.charge.reference) !== named) return undefined
  return found?.status === 'succeeded' ? found : undefined
}

async function receive(tx: Tx, context: Context, delivery: Delivery, read: ReadWebhook): Promise<void> {
  const { account } = delivery
  const { hint, fetched, refund, dispute, checkout } = read
  switch (hint.about) {
    case 'payout':
      return
    case 'checkout':
      if (!checkout && !fetched) return recordUnknown(tx, context, delivery, hint.checkoutId)
      if (checkout) await receiveCheckout(tx, context, account, read)
      else await receiveCharge(tx, context, fetched!)
      return
    case 'payment':
      if (!fetched) return recordUnknown(tx, context, delivery, hint.paymentId)
      await receiveCharge(tx, context, fetched)
      return
    case 'payment_request':
      if (fetched) await receiveCharge(tx, context, fetched)
      else if (!read.isUnpaid) await recordUnknown(tx, context, delivery, hint.paymentRequestId)
      return
    case 'refund':
      if (refund && fetched) return receiveRefund(tx, context, refund, fetched)
      return recordUnknown(tx, context, delivery, hint.refundId, await doubtNamed(tx, context, account, hint))
    case 'dispute': {
      if (dispute && fetched) return receiveDispute(tx, context, { dispute, fetched, isNamed: read.isNamed ?? false })
      await doubtNamed(tx, context, account, hint)
      if (dispute) alertOfEvidence(context, dispute)
      return recordUnknown(tx, context, delivery, hint.disputeId, true)
    }
    default: {
      const { event } = hint
      // An anomaly has the id of its object, because a second one of the same event is news
      const object = `${event} ${hint.object ?? delivery.deliveryId}`
      if (await recordAnomaly(tx, { kind: 'event_unknown', account, object }))
        context.log.alarm({ account, object }, 'unknown webhook event recorded')
    }
  }
}

/**
 * Returns no facts if the provider refused an id that is not of its own form: no such object exists. Rethrows
 * the error if we hold that id ourselves, because the outcome is then unknown. The id of a refund or dispute comes from
 * the webhook alone, even if its payment is ours.
 */
async function noSuchObject(
  context: Context,
  account: Delivery['account'],
  hint: Hint,
  error: unknown,
): Promise<WebhookFacts> {
  const ours = refusesId(error) ? await findOurs(context, account, hint) : undefined
  if (ours) await recordRefusedLookUp(context, ours, error)
  if (!refusesId(error) || (ours && hint.about !== 'refund' && hint.about !== 'dispute')) throw error
  return {}
}

const findOurs = ({ database }: Context, account: Delivery['account'], hint: Hint) =>
  database.read((db) => findOwner(db, account, hint))

async function findOwner(db: Db, account: Delivery['account'], hint: Hint): Promise<PaymentRow | undefined> {
  switch (hint.about) {
    case 'checkout':
      return findByCheckout(db, account, hint.checkoutId)
    case 'payment':
      return findByProviderIds(db, { account, ...hint, paymentRequestId: null })
    case 'payment_request':
      return findByProviderIds(db, { account, paymentId: '', ...hint })
    case 'refund':
    case 'dispute': {
      const { paymentId, paymentRequestId } = hint
      if (!paymentId && !paymentRequestId) return undefined
      // The id of the payment may be that of its request.
      const requestId = paymentRequestId ?? paymentId
      return findByProviderIds(db, { account, paymentId: paymentId ?? '', paymentRequestId: requestId })
    }
    default:
      return undefined
  }
}

/**
 * Puts the money of a payment in doubt, because a webhook names it together with a refund or dispute that cannot be
 * fetched. It is asked for from time to time, and the doubt ends once it is found. Returns true if the payment is ours.
 */
async function doubtNamed(tx: Tx, context: Context, account: Delivery['account'], hint: Hint): Promise<boolean> {
  if (hint.about !== 'refund' && hint.about !== 'dispute') return false
  const id = voidId(objectIdOf(hint))
  if (!(await recordDoubt(tx, context, account, { hint, id }))) return false
  // guard: a refund or dispute that a webhook named, and that was not found, is asked for again
  await planLookBy(tx, id, new Date(context.clock() + confirmMs))
  return true
}

type ReturnHint = Extract<Hint, { about: 'refund' | 'dispute' }>

async function recordDoubt(
  tx: Tx,
  context: Context,
  account: Delivery['account'],
  { hint, id }: { readonly hint: ReturnHint; readonly id: string },
): Promise<boolean> {
  const { paymentId: named } = hint
  const objectId = hint.about === 'dispute' ? hint.disputeId : null
  const doubt = { account, id, status: 'unknown', objectId } as const
  if (named && (await receiveDoubt(tx, context, named, doubt))) return true
  const owner = (await findOwner(tx, account, hint)) ?? (await findNamed(tx, account, hint))
  if (!owner) return false
  const charge = owner.providerPaymentId
  if (charge) return receiveDoubt(tx, context, charge, doubt)
  // The report makes it held when it is received.
  if (named)
    await recordReport(tx, {
      id,
      paymentId: owner.id,
      providerPaymentId: named,
      refundedMinor: null,
      objectId,
      status: doubt.status,
      origin: 'void',
    })
  return true
}

const objectIdOf = (hint: ReturnHint): string => (hint.about === 'refund' ? hint.refundId : hint.disputeId)

/**
 * Records a webhook whose object does not exist, as in the dashboard's sample webhooks. Alerts if money that we counted
 * may be going back.
 */
async function recordUnknown(tx: Tx, { log }: Context, { account }: Delivery, object: string, alarm = false) {
  const isNew = await recordAnomaly(tx, { kind: 'object_unknown', account, object })
  const fields = { account, object }
  log[alarm && isNew ? 'alarm' : 'warn'](fields, 'webhook object not found at provider')
}

function isMissing(hint: Hint, { checkout, fetched, refund, dispute, isUnpaid }: WebhookFacts): boolean {
  if (hint.about === 'checkout') return !checkout && !fetched
  if (hint.about === 'refund') return !refund || !fetched
  if (hint.about === 'dispute') return !dispute || !fetched
  return (hint.about === 'payment' || hint.about === 'payment_request') && !fetched && !isUnpaid
}

/** Time after its webhook for which an object of ours may be missing from lookups, in ms. */
const insistMs = 60_000

/**
 * Throws if the missing object belongs to one of our payments, so that the webhook is retried. If the object
 * appears later, the list, a hold's last check or a look at the doubt finds it.
 */
async function insistOnOurs(context: Context, account: Delivery['account'], hint: Hint) {
  const payment = await context.database.read(
    async (db) => (await findOwner(db, account, hint)) ?? (await findNamed(db, account, hint)),
  )
  if (payment) throw new Error(`${hint.about} of ${payment.id} not found yet`)
}

/**
 * Finds the payment that the webhook's reference names. The reference is unverified, but reason enough to ask
 * the provider again.
 */
async function findNamed(db: Db, account: Delivery['account'], hint: Hint): Promise<PaymentRow | undefined> {
  const id = 'reference' in hint ? paymentIdIn(hint.reference ?? null) : undefined
  const payment = id ? await findPayment(db, id) : undefined
  return payment?.account === account ? payment : undefined
}
