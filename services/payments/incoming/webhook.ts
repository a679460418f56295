import { type Reaction, reactTo } from '#platform/bus/reaction'
import { ageMs } from '#platform/clock'
import type { Tx } from '#platform/db/open'
import type { Message } from '#shared/messages/topic'
import { PaymentsWebhook } from '#shared/messages/webhooks'
import { refusesId } from '#shared/provider/problem'
import type { Context } from '../context'
import { paymentIdFrom } from '../payment'
import { findByCheckout, findByProviderIds, findPayment } from '../payment.store'
import type { FetchedCharge, FetchedRefund, Hint } from '../provider'
import { findRefunded, recordRefusedLookUp } from '../providers/look-up'
import { recordAnomaly } from '../schema.store'
import { type FetchedCheckout, fetchCheckout, receiveCharge, receiveCheckout, receiveRefund, withRate } from './receive'

type Delivery = Message<typeof PaymentsWebhook>
type WebhookFacts = FetchedCheckout & {
  readonly refund?: FetchedRefund | undefined
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
      const facts = await fetchFacts(context, account, hint).catch((error) =>
        noSuchObject(context, account, hint, error),
      )
      const waitedMs = ageMs(Date.parse(receivedAt), context.clock())
      if (isMissing(hint, facts) && waitedMs < insistMs) await insistOnOurs(context, account, hint)
      return { hint, ...facts }
    },
    apply: (tx, delivery, read) => receive(tx, context, delivery, read),
  }),
]

async function fetchFacts(context: Context, account: Delivery['account'], hint: Hint): Promise<WebhookFacts> {
  const { provider } = context
  const priced = async (charge: Promise<FetchedCharge | null | undefined>) => ({
    isUnpaid: (await charge) === null,
    fetched: await withRate(context, await charge),
  })
  switch (hint.about) {
    case 'checkout':
      return fetchCheckout(context, account, hint.checkoutId)
    case 'payment':
      return priced(provider.findCharge(account, hint.paymentId))
    case 'payment_request':
      return priced(provider.findChargeOfRequest(account, hint.paymentRequestId))
    case 'refund': {
      const refund = await provider.findRefund(account, hint.refundId)
      return refund ? { refund, ...(await priced(findRefunded(provider, account, refund))) } : {}
    }
    default:
      return {}
  }
}

async function receive(tx: Tx, context: Context, delivery: Delivery, read: ReadWebhook): Promise<void> {
  const { account } = delivery
  const { hint, fetched, refund, checkout } = read
  switch (hint.about) {
    case 'payout':
      return
    case 'checkout':
      if (!checkout) return recordUnknown(tx, context, delivery, hint.checkoutId)
      await receiveCheckout(tx, context, account, read)
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
      if (!refund || !fetched) return recordUnknown(tx, context, delivery, hint.refundId)
      return receiveRefund(tx, context, refund, fetched)
    default: {
      const { event: object } = hint
      await recordAnomaly(tx, { kind: 'event_unknown', account, object })
      context.log.warn({ account, event: object }, 'unknown webhook event recorded')
    }
  }
}

/**
 * Returns no facts if the provider refused an id that is not of its own form: no such object exists. Rethrows
 * the error if we hold that id ourselves, because the outcome is then unknown. A refund id comes from the
 * webhook alone, even if its payment is ours.
 */
async function noSuchObject(
  context: Context,
  account: Delivery['account'],
  hint: Hint,
  error: unknown,
): Promise<WebhookFacts> {
  const ours = refusesId(error) ? await findOurs(context, account, hint) : undefined
  if (ours) await recordRefusedLookUp(context, ours, error)
  if (!refusesId(error) || (ours && hint.about !== 'refund')) throw error
  return {}
}

function findOurs({ database }: Context, account: Delivery['account'], hint: Hint) {
  return database.read(async (db) => {
    switch (hint.about) {
      case 'checkout':
        return findByCheckout(db, account, hint.checkoutId)
      case 'payment':
        return findByProviderIds(db, { account, ...hint, paymentRequestId: null })
      case 'payment_request':
        return findByProviderIds(db, { account, paymentId: '', ...hint })
      case 'refund': {
        const { paymentId, paymentRequestId } = hint
        if (!paymentId && !paymentRequestId) return undefined
        return findByProviderIds(db, { account, paymentId: paymentId ?? '', paymentRequestId })
      }
      default:
        return undefined
    }
  })
}

/** Records a webhook whose object does not exist, as in the dashboard's sample webhooks. */
async function recordUnknown(tx: Tx, { log }: Context, { account }: Delivery, object: string) {
  await recordAnomaly(tx, { kind: 'object_unknown', account, object })
  log.warn({ account, object }, 'webhook object not found at provider')
}

function isMissing(hint: Hint, { checkout, fetched, refund, isUnpaid }: WebhookFacts): boolean {
  if (hint.about === 'checkout') return !checkout
  if (hint.about === 'refund') return !refund || !fetched
  return (hint.about === 'payment' || hint.about === 'payment_request') && !fetched && !isUnpaid
}

/** Time after its webhook for which an object of ours may be missing from lookups, in ms. */
const insistMs = 60_000

/**
 * Throws if the missing object belongs to one of our payments, so that the webhook is retried. If the object
 * appears later, the list or a hold's last check finds it.
 */
async function insistOnOurs(context: Context, account: Delivery['account'], hint: Hint) {
  const payment = (await findOurs(context, account, hint)) ?? (await findNamed(context, hint))
  if (payment) throw new Error(`${hint.about} of ${payment.id} not found yet`)
}

/**
 * Finds the payment that the webhook's reference names. The reference is unverified, but reason enough to ask
 * the provider again.
 */
async function findNamed({ database }: Context, hint: Hint) {
  const id = 'reference' in hint ? paymentIdFrom(hint.reference ?? '') : undefined
  return id && database.read((db) => findPayment(db, id))
}
