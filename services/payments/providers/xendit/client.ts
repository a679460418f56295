import type { Clock } from '#platform/clock'
import type { Log } from '#platform/log'
import type { ProviderAccount } from '#shared/money/pair'
import { type Exchange, openProviderClient, type ProviderAnswer, type ProviderClient } from '#shared/provider/client'
import { demandSameField, idFrom } from '#shared/provider/field'
import { ProviderBusy, ProviderUnknown } from '#shared/provider/problem'
import { listAllTransactions } from '#shared/provider/transactions'
import type { CancelOutcome, CheckoutStatus, FetchedRefund, PaymentProvider } from '../../provider'
import { channelKind } from './channel'
import { readDelivery } from './delivery'
import {
  chargeFrom,
  checkoutFrom,
  disputeFrom,
  isAsOrdered,
  refundFrom,
  refundRequest,
  sessionRequest,
} from './mapping'
import {
  WireDispute,
  WireOpened,
  WirePayment,
  WirePaymentRequest,
  WireRefund,
  WireRefundMade,
  WireRefunds,
  WireSession,
} from './wire'

/** API version, which the v3 endpoints require; sessions and refunds document no version. */
const apiVersion = '2024-11-11'
/** Deadline for opening a checkout, in ms: the user waits for it, and the gateway's timeout is ten seconds. */
const openDeadlineMs = 4_000
const cancelDeadlineMs = 2_000

export function openXendit(options: {
  baseUrl: string
  secretKeys: Readonly<Record<ProviderAccount, string>>
  requestsPerMinute: number
  copies?: () => number
  appUrl: string
  log: Log
  clock?: Clock
  exchange?: Exchange
}): PaymentProvider {
  const { secretKeys, appUrl, ...api } = options
  const open = (account: ProviderAccount) => openProviderClient({ ...api, account, secretKey: secretKeys[account] })
  return xendit({ clients: { ID: open('ID'), MY: open('MY') }, appUrl })
}

export function xendit(options: {
  clients: Readonly<Record<ProviderAccount, ProviderClient>>
  appUrl: string
}): PaymentProvider {
  const { clients, appUrl } = options
  const findCharge: PaymentProvider['findCharge'] = async (account, paymentId) => {
    const path = `/v3/payments/${paymentId}`
    const wire = found(await clients[account].get(path, { schema: WirePayment, apiVersion }), path)
    return wire && chargeFrom(clients[account], wire, paymentId)
  }
  const findCheckout: PaymentProvider['findCheckout'] = async (account, checkoutId) => {
    const path = `/sessions/${checkoutId}`
    const wire = found(await clients[account].get(path, { schema: WireSession }), path)
    return wire && checkoutFrom(clients[account], wire, checkoutId)
  }
  const cancelCheckout: PaymentProvider['cancelCheckout'] = async (account, checkoutId) => {
    const path = `/sessions/${checkoutId}/cancel`
    const asked = { schema: WireSession, deadlineMs: cancelDeadlineMs }
    try {
      const answer = await clients[account].post(path, asked)
      if ('ok' in answer) return cancelOutcome(checkoutFrom(clients[account], answer.ok, checkoutId).status)
      // Only an active session can be cancelled; the status of any other has to be read.
      if (answer.refused.meaning !== 'state_wrong') return 'unknown'
      return cancelOutcome((await findCheckout(account, checkoutId))?.status)
    } catch (error) {
      if (error instanceof ProviderUnknown || error instanceof ProviderBusy) return 'unknown'
      throw error
    }
  }
  return {
    openCheckout: async (order) => {
      const client = clients[order.account]
      const answer = await client.post('/sessions', {
        schema: WireOpened,
        body: sessionRequest(order, { appUrl, nowMs: client.now() }),
        deadlineMs: openDeadlineMs,
      })
      if (!('ok' in answer)) return undefined
      const checkout = checkoutFrom(client, answer.ok, answer.ok.payment_session_id)
      if (isAsOrdered(answer.ok, order)) return checkout
      await cancelCheckout(order.account, checkout.checkoutId)
      return undefined
    },
    cancelCheckout,
    findCheckout,
    findCharge,
    findChargeOfRequest: async (account, paymentRequestId) => {
      const path = `/v3/payment_requests/${paymentRequestId}`
      const asked = { schema: WirePaymentRequest, apiVersion }
      const wire = found(await clients[account].get(path, asked), path)
      demandSameField(wire?.payment_request_id, paymentRequestId)
      const paymentId = idFrom(wire?.latest_payment_id)
      return paymentId ? findCharge(account, paymentId) : wire && null
    },
    // Each of the two refund APIs knows its own refunds only (docs.xendit.co/apidocs/get-a-refund), and an account need
    // not have the newer one.
    findRefund: async (account, refundId) => {
      const path = `/refunds/${refundId}`
      const legacy = await clients[account].get(path, { schema: WireRefund })
      if ('ok' in legacy) return refundFrom(legacy.ok, refundId)
      const current = await clients[account].get(`/v3${path}`, { schema: WireRefund, apiVersion })
      if ('ok' in current) return refundFrom(current.ok, refundId)
      found(legacy, path)
      return undefined
    },
    findDispute: async (account, disputeId) => {
      const path = `/v1/disputes/${disputeId}`
      const wire = found(await clients[account].get(path, { schema: WireDispute }), path)
      return wire && disputeFrom(clients[account], wire, disputeId)
    },
    listRefunds: async (account, paymentRequestId) => {
      const path = `/refunds?payment_request_id=${paymentRequestId}`
      const wire = found(await clients[account].get(path, { schema: WireRefunds }), path)
      // A hold must not end while a refund may be on another page.
      if (wire?.has_more === true) throw new ProviderUnknown(`${path} has more than one page`)
      return wire?.data.map((one) => refundOf(paymentRequestId, one))
    },
    createRefund: async (order) => {
      const { account, reference: idempotencyKey } = order
      const answer = await clients[account].post('/refunds', {
        schema: WireRefundMade,
        body: refundRequest(order),
        // guard: a refund keeps one idempotency key
        idempotencyKey,
      })
      return 'ok' in answer ? { ok: refundOf(order.paymentRequestId, answer.ok) } : answer
    },
    kindOfChannel: channelKind,
    listTransactions: (account, agoMs) =>
      listAllTransactions(clients[account], {
        types: ['payment', 'refund', 'chargeback'],
        updatedFrom: new Date(clients[account].now() - agoMs),
      }),
    readDelivery,
  }
}

function refundOf(paymentRequestId: string, wire: WireRefundMade): FetchedRefund {
  demandSameField(wire.payment_request_id, paymentRequestId)
  return refundFrom(wire, wire.id)
}

function cancelOutcome(status: CheckoutStatus | undefined): CancelOutcome {
  if (status === 'closed' || status === 'cancelled') return 'closed'
  return status === 'completed' ? status : 'unknown'
}

/** Returns undefined for "not found". Any other refusal of a lookup leaves the state unknown and throws. */
function found<T>(answer: ProviderAnswer<T>, path: string): T | undefined {
  if ('ok' in answer) return answer.ok
  const { refused: refusal } = answer
  if (refusal.meaning === 'not_found') return undefined
  throw new ProviderUnknown(`${path} was refused: ${refusal.status} ${refusal.code}`, { refusal })
}
