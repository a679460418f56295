import { Type } from 'typebox'
import type { Checkout } from '../../services/payments/provider'
import { orderOf, outcomeOf } from './checkout-steps'
import { type PaymentBench, pay, providerOf, until } from './payment-bench'
import { left, type Step } from './step'
import { listedPaymentSteps, listedReturnSteps, type PaidHere } from './transaction-steps'

/** Channels per account: test mode pays one automatically, and the other can be refunded. */
const channels = {
  ID: { paid: 'QRIS', refundable: 'DANA' },
  MY: { paid: 'TOUCHNGO', refundable: 'GRABPAY' },
} as const

function paidHere(seen: Checkout | undefined): PaidHere | undefined {
  if (!seen?.paymentId || !seen.paymentRequestId) return undefined
  const { checkoutId, reference, paymentId, paymentRequestId } = seen
  return { checkoutId, reference, paymentId, paymentRequestId, seenAt: Date.now() }
}

export function chargeSteps(bench: PaymentBench): Step[] {
  const { account, client } = bench
  const provider = providerOf(client)
  const channel = channels[account].paid
  const order = orderOf(account)
  let paid: PaidHere | undefined
  return [
    {
      name: 'a paid checkout is completed and names its payment',
      expected: 'completed, a payment, a payment request',
      see: async () => {
        const checkout = left(await provider.openCheckout(order), 'checkout')
        const seen = await pay(bench, { checkout, fiat: order.fiat, channel })
        paid = paidHere(seen)
        const payment = seen?.paymentId ? 'a payment' : 'no payment'
        const request = seen?.paymentRequestId ? 'a payment request' : 'no payment request'
        return [seen?.status, payment, request].join(', ')
      },
    },
    {
      name: 'the payment has its amount, to the smallest unit, and its channel',
      fact: 'captures',
      expected: `succeeded ${order.fiat.minor} ${order.fiat.currency} ${channel}`,
      see: async () => {
        const found = await provider.findCharge(account, left(paid, 'payment').paymentId)
        const { paidMinor, currency, channel: used } = left(found, 'payment').charge
        return `${found?.status} ${paidMinor} ${currency} ${used}`
      },
    },
    {
      name: 'the sender is absent or the expected one',
      fact: 'sender-verification',
      expected: 'nothing, or passed',
      see: async () => {
        const found = await provider.findCharge(account, left(paid, 'payment').paymentId)
        const said = left(found, 'payment').charge.senderVerification ?? 'passed'
        return said === 'passed' ? 'nothing, or passed' : said
      },
    },
    {
      name: 'its reference is ours, possibly with a suffix',
      expected: 'ours',
      see: async () => {
        const found = await provider.findCharge(account, left(paid, 'payment').paymentId)
        const { reference } = left(found, 'payment').charge
        const own = reference === order.reference || reference.startsWith(`${order.reference}_`)
        return own ? 'ours' : 'of another form'
      },
    },
    {
      name: 'the payment request leads to the same payment',
      expected: 'the same payment',
      see: async () => {
        const { paymentId, paymentRequestId } = left(paid, 'payment')
        const found = await provider.findChargeOfRequest(account, paymentRequestId)
        return found?.charge.paymentId === paymentId ? 'the same payment' : 'another payment'
      },
    },
    {
      name: 'a paid checkout cannot be cancelled',
      expected: '422 INVALID_SESSION_STATUS: state_wrong',
      see: () => outcomeOf(client, `/sessions/${left(paid, 'payment').checkoutId}/cancel`),
    },
    ...listedPaymentSteps(bench, channel, () => left(paid, 'payment')),
  ]
}

/** Returns steps with refunds from the provider's dashboard, which the service only reads. */
export function refundSteps(bench: PaymentBench): Step[] {
  const { account, client, waiting } = bench
  const provider = providerOf(client)
  const order = orderOf(account)
  const channel = channels[account].refundable
  let paid: PaidHere | undefined
  let refundId: string | undefined
  const ask = async (amount?: number) => {
    const answer = await client.post('/refunds', {
      schema: Type.Object({ id: Type.String() }),
      body: {
        payment_request_id: left(paid, 'payment').paymentRequestId,
        reason: 'OTHERS',
        amount,
      },
    })
    if ('ok' in answer) refundId = answer.ok.id
    return 'ok' in answer ? 'accepted' : answer.refused.meaning
  }
  return [
    {
      name: 'a payment that can be refunded',
      expected: 'completed',
      see: async () => {
        const checkout = left(await provider.openCheckout(order), 'checkout')
        const seen = await pay(bench, { checkout, fiat: order.fiat, channel })
        paid = paidHere(seen)
        return seen?.status ?? 'gone'
      },
    },
    ...listedPaymentSteps(bench, channel, () => left(paid, 'payment')),
    {
      name: 'a refund above the paid amount is refused',
      expected: 'amount_outside_limits',
      see: () => ask(150_002),
    },
    { name: 'a full refund is accepted', expected: 'accepted', see: () => ask() },
    {
      name: 'the refund is found, to the smallest unit, under its payment request',
      fact: 'refund-ids',
      expected: `succeeded ${order.fiat.minor} ${order.fiat.currency}, its payment request`,
      see: async () => {
        const id = left(refundId, 'refund')
        const read = () => provider.findRefund(account, id)
        const seen = await until(waiting, read, (found) => found?.status === 'succeeded')
        const own = left(paid, 'payment').paymentRequestId
        const whose = seen?.paymentRequestId === own ? 'its payment request' : 'another one'
        return `${seen?.status} ${seen?.refundedMinor} ${seen?.currency}, ${whose}`
      },
    },
    {
      name: 'the list of the payment request has it once',
      expected: '1',
      see: async () => {
        const { paymentRequestId } = left(paid, 'payment')
        const listed = await provider.listRefunds(account, paymentRequestId)
        return String(listed?.filter((refund) => refund.refundId === refundId).length)
      },
    },
    ...listedReturnSteps(
      bench,
      () => left(paid, 'payment'),
      () => left(refundId, 'refund'),
    ),
  ]
}
