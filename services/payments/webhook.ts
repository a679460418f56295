import { nothingNew, type Reaction, reactTo } from '#shared/bus/reaction'
import type { Tx } from '#shared/db/open'
import type { Message } from '#shared/messages/topic'
import { PaymentsWebhook } from '#shared/messages/webhooks'
import { refusesId } from '#shared/provider/problem'
import type { Context } from './context'
import { paymentIdFrom } from './payment'
import { findByCheckout, findByProviderIds } from './payment.store'
import type { FetchedCharge, FetchedRefund, Hint } from './provider'
import { findRefunded, noteRefusedLookUp } from './providers/look-up'
import {
  callPerson,
  type FetchedCheckout,
  fetchCheckout,
  isCounted,
  receiveCharge,
  receiveCheckout,
  receiveRefund,
  withRate,
} from './receive'
import { recordAnomaly } from './schema.store'

type Delivery = Message<typeof PaymentsWebhook>
/** What the provider says about the object a hint names; undefined for what it does not know. */
type Facts = FetchedCheckout & {
  readonly refund?: FetchedRefund | undefined
  /** The provider knows the payment request, and that nobody paid it so far. */
  readonly isUnpaid?: boolean
}
type Read = Facts & { hint: Hint }

/** A delivery says what to ask for; what the provider answers is what we believe. */
export const webhookReactions = (context: Context): Reaction[] => [
  reactTo<typeof PaymentsWebhook, Read>(PaymentsWebhook, {
    // The payouts service reads the same stream.
    concerns: ({ body }) => context.provider.readDelivery(body).about !== 'payout',
    // Told of a payment by its checkout and by itself, within the same moment.
    orderOf: ({ body }) => {
      const hint = context.provider.readDelivery(body)
      return 'reference' in hint ? paymentIdFrom(hint.reference ?? '') : undefined
    },
    find: async ({ account, body, receivedAt }) => {
      const hint = context.provider.readDelivery(body)
      const facts = await fetchFacts(context, account, hint).catch((error) =>
        noSuchObject(context, account, hint, error),
      )
      const ageMs = context.clock() - Date.parse(receivedAt)
      if (hint.about === 'refund' && !facts.refund && ageMs < insistMs)
        await insistOnOurs(context, account, hint)
      return isRepeat(hint, facts) ? nothingNew : { hint, ...facts }
    },
    apply: (tx, delivery, read) => receive(tx, context, delivery, read),
  }),
]

/** The provider tells of a payment more than once, by its checkout and by itself. */
const isRepeat = (hint: Hint, { fetched, checkout }: Facts): boolean => {
  if (!isCounted(fetched)) return false
  if (hint.about === 'payment' || hint.about === 'payment_request') return true
  const isNoted = fetched?.match?.paymentRequestId !== null && checkout?.status !== 'unknown'
  return hint.about === 'checkout' && isNoted
}

/** Asks the provider with the account's own key. Throws when it cannot be asked. */
async function fetchFacts(
  context: Context,
  account: Delivery['account'],
  hint: Hint,
): Promise<Facts> {
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

async function receive(tx: Tx, context: Context, delivery: Delivery, read: Read): Promise<void> {
  const { account } = delivery
  const { hint, fetched, refund, checkout } = read
  switch (hint.about) {
    case 'payout':
      return
    case 'checkout':
      if (!checkout) return noteUnknown(tx, context, delivery, hint.checkoutId)
      await receiveCheckout(tx, context, account, read)
      return
    case 'payment':
      if (!fetched) return noteUnknown(tx, context, delivery, hint.paymentId)
      await receiveCharge(tx, context, fetched)
      return
    case 'payment_request':
      if (fetched) await receiveCharge(tx, context, fetched)
      else if (!read.isUnpaid) await noteUnknown(tx, context, delivery, hint.paymentRequestId)
      return
    case 'refund':
      if (!refund || !fetched) return noteUnknown(tx, context, delivery, hint.refundId)
      // A hold that depends on it asks again and is extended meanwhile; a webhook has no more to say.
      if (refund.refundedMinor !== null) return receiveRefund(tx, context, refund, fetched)
      return callPerson(tx, context, 'amount_unknown', { account, object: refund.refundId })
    default: {
      const { event: object } = hint
      await recordAnomaly(tx, { kind: 'event_unknown', account, object })
      context.log.warn({ account, event: object }, 'unknown webhook event recorded')
    }
  }
}

/**
 * An id of another form than the provider's own is refused, for ever: there is no such object. Of what
 * we hold that would be wrong: it was the provider that gave us the id. Then it is unknown. The id of
 * a refund is the delivery's alone, even of a payment of ours.
 */
async function noSuchObject(
  context: Context,
  account: Delivery['account'],
  hint: Hint,
  error: unknown,
): Promise<Facts> {
  const ours = refusesId(error) ? await findOurs(context, account, hint) : undefined
  if (ours) await noteRefusedLookUp(context, ours, error)
  if (!refusesId(error) || (ours && hint.about !== 'refund')) throw error
  return {}
}

/** The payment of ours whose id, at the provider, a delivery names. */
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

/** The dashboard's sample deliveries name objects that never were. */
async function noteUnknown(tx: Tx, { log }: Context, { account }: Delivery, object: string) {
  await recordAnomaly(tx, { kind: 'object_unknown', account, object })
  log.warn({ account, object }, 'webhook object not found at provider')
}

/** A refund may be told of before it is shown, but not for long. */
const insistMs = 60_000

/**
 * A refund of ours is asked for again for a while; one that is still not shown is recorded. Should it
 * be there after all, the list of transactions tells of it, and of a held payment its last check.
 */
async function insistOnOurs(context: Context, account: Delivery['account'], hint: Hint) {
  if (hint.about !== 'refund') return
  const payment = await findOurs(context, account, hint)
  if (payment) throw new Error(`refund ${hint.refundId} of ${payment.id} cannot be found`)
}
