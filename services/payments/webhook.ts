import { type Reaction, reactTo } from '#shared/bus/reaction'
import type { Tx } from '#shared/db/open'
import { failpoint } from '#shared/failpoint'
import type { Message } from '#shared/messages/topic'
import { PaymentsWebhook } from '#shared/messages/webhooks'
import type { Context } from './context'
import { findByProviderIds } from './payment.store'
import type { FetchedCharge, FetchedRefund, Hint, PaymentProvider } from './provider'
import {
  type FetchedCheckout,
  fetchCheckout,
  receiveCharge,
  receiveCheckout,
  receiveRefund,
  withRate,
} from './receive'
import { recordAnomaly } from './schema.store'

type Delivery = Message<typeof PaymentsWebhook>
/** What the provider says about the object a hint names; undefined for what it does not know. */
type Facts = FetchedCheckout & { readonly refund?: FetchedRefund | undefined }
type Read = Facts & { hint: Hint }

/**
 * The outbox is poked after each commit; after one that made a payment `paid`, a crash suite may
 * want the process to end there.
 */
export function notePaid(poke: () => void) {
  let paid = false
  return {
    onPaid: () => {
      paid = true
    },
    poke: () => {
      if (paid) failpoint('payments:paid-committed')
      paid = false
      poke()
    },
  }
}

/**
 * A delivery says what to ask for; what the provider answers is what we believe. `onPaid` is called
 * within the transaction that made a payment `paid`.
 */
export const webhookReactions = (context: Context, onPaid: () => void): Reaction[] => [
  reactTo<typeof PaymentsWebhook, Read>(PaymentsWebhook, {
    find: async ({ account, body }) => {
      const hint = context.provider.readDelivery(body)
      const facts = await fetchFacts(context, account, hint)
      if (hint.about === 'refund' && !facts.refund) await insistOnOurs(context, account, hint)
      if (facts.fetched) failpoint('payments:payment-found')
      return { hint, ...facts }
    },
    apply: async (tx, delivery, read) => {
      if (await receive(tx, context, delivery, read)) onPaid()
    },
  }),
]

/** Asks the provider with the account's own key. Throws when it cannot be asked. */
async function fetchFacts(
  context: Context,
  account: Delivery['account'],
  hint: Hint,
): Promise<Facts> {
  const { provider } = context
  const priced = async (charge: Promise<FetchedCharge | undefined>) => ({
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
      return refund ? { refund, ...(await priced(fetchRefunded(provider, account, refund))) } : {}
    }
    default:
      return {}
  }
}

const fetchRefunded = async (
  provider: PaymentProvider,
  account: Delivery['account'],
  { paymentId, paymentRequestId }: FetchedRefund,
) => {
  if (paymentId) return provider.findCharge(account, paymentId)
  return paymentRequestId ? provider.findChargeOfRequest(account, paymentRequestId) : undefined
}

async function receive(tx: Tx, context: Context, delivery: Delivery, read: Read): Promise<boolean> {
  const { account } = delivery
  const { hint, fetched, refund, checkout } = read
  switch (hint.about) {
    case 'payout':
      return false // The payouts service reads the same stream.
    case 'checkout':
      if (checkout) return receiveCheckout(tx, context, account, read)
      return noteUnknown(tx, context, delivery, hint.checkoutId)
    case 'payment':
      if (!fetched) return noteUnknown(tx, context, delivery, hint.paymentId)
      return receiveCharge(tx, context, fetched)
    case 'payment_request':
      return fetched ? receiveCharge(tx, context, fetched) : false
    case 'refund':
      if (!refund || !fetched) return noteUnknown(tx, context, delivery, hint.refundId)
      await receiveRefund(tx, context, refund, fetched)
      return false
    default: {
      const { event: object } = hint
      await recordAnomaly(tx, { kind: 'event_unknown', account, object })
      context.log.warn({ account, event: object }, 'delivery of an unknown event recorded')
      return false
    }
  }
}

/** The dashboard's sample deliveries name objects that never were. */
async function noteUnknown(tx: Tx, { log }: Context, { account }: Delivery, object: string) {
  await recordAnomaly(tx, { kind: 'object_unknown', account, object })
  log.warn({ account, object }, 'delivery names an object the provider does not know')
  return false
}

/** Only held payments are rechecked for refunds, so a refund of ours is asked for until it is found. */
async function insistOnOurs({ database }: Context, account: Delivery['account'], hint: Hint) {
  if (hint.about !== 'refund' || !hint.paymentRequestId) return
  const { refundId, paymentRequestId } = hint
  const ids = { account, paymentId: '', paymentRequestId }
  const payment = await database.read((db) => findByProviderIds(db, ids))
  if (payment) throw new Error(`refund ${refundId} of ${payment.id} cannot be found`)
}
