import { businessIdOf, currencyOf } from '../account'
import { findChannel } from '../channels/channels'
import { majorFromMinor } from '../money'
import type { Payment, PaymentRequest } from '../records'

export const matchedSender = 'SENDER_MATCHED'

/** Returns a payment as in webhooks and `GET /v3/payments/:id`. */
export function paymentBody(payment: Payment): Record<string, unknown> {
  const currency = currencyOf[payment.account]
  return {
    payment_id: payment.id,
    business_id: businessIdOf[payment.account],
    reference_id: payment.referenceId,
    payment_request_id: payment.requestId,
    type: 'PAY',
    country: payment.account,
    currency,
    request_amount: majorFromMinor(payment.requestMinor, currency),
    capture_method: payment.captureMethod,
    channel_code: payment.channelCode,
    captures: payment.captureId
      ? [
          {
            capture_id: payment.captureId,
            capture_timestamp: payment.capturedAt,
            capture_amount: majorFromMinor(payment.capturedMinor, currency),
          },
        ]
      : [],
    status: payment.forced?.status ?? payment.status,
    payment_details: paymentDetails(payment),
    ...(payment.failureCode && { failure_code: payment.failureCode }),
    metadata: null,
    created: payment.createdAt,
    updated: payment.updatedAt,
  }
}

/** Returns a payment request as in `GET /v3/payment_requests/:id`. */
export function paymentRequestBody(request: PaymentRequest): Record<string, unknown> {
  const currency = currencyOf[request.account]
  return {
    business_id: businessIdOf[request.account],
    reference_id: request.referenceId,
    payment_request_id: request.id,
    payment_token_id: null,
    customer_id: null,
    latest_payment_id: request.latestPaymentId,
    type: 'PAY',
    country: request.account,
    currency,
    request_amount: majorFromMinor(request.amountMinor, currency),
    capture_method: request.captureMethod,
    channel_code: request.channelCode,
    channel_properties: {},
    actions: actionsOf(request),
    status: request.status,
    failure_code: request.failureCode,
    description: null,
    metadata: null,
    items: null,
    shipping_information: null,
    created: request.createdAt,
    updated: request.updatedAt,
  }
}

// Returns invented details in the provider's format.
function paymentDetails({ id, account, channelCode, status, sender }: Payment): Record<string, unknown> {
  switch (findChannel(account, channelCode)?.type) {
    case 'CARDS':
      return status === 'FAILED'
        ? { authorization_data: { network_response_code: '05' } }
        : { authorization_data: { network_response_code: '00', authorization_code: '831000' } }
    case 'BANK TRANSFER':
      return {
        payer_name: 'Sandbox Payer',
        payer_account_number: '1234567890',
        issuer_name: channelCode.replace(/_VIRTUAL_ACCOUNT$/, ''),
        ...(sender && { verification_result: verificationOf(sender) }),
      }
    case 'QR CODE':
      return { issuer_name: 'DANA', receipt_id: twelveDigitsOf(id), fund_source: 'EWALLET' }
    default:
      return {}
  }
}

/** Returns a reference in the form of an RRN: twelve digits, here derived from the payment's id. */
const twelveDigitsOf = (id: string): string =>
  String(BigInt(`0x${id.replaceAll(/[^0-9a-f]/g, '')}`) % 10n ** 12n).padStart(12, '0')

/** Returns the payer's verification as in docs.xendit.co/docs/bri-virtual-account. */
const verificationOf = (result: string) => ({
  is_eligible: result === matchedSender,
  sender_verification: { result, reason: result === matchedSender ? 'Name matched' : 'timeout' },
  risk_assessment: { result: 'NONE', reason: 'No alert' },
})

function actionsOf({ account, channelCode, status }: PaymentRequest): unknown[] {
  if (status !== 'ACCEPTING_PAYMENTS' && status !== 'REQUIRES_ACTION') return []
  const type = findChannel(account, channelCode)?.type
  if (type === 'QR CODE') return [present('QR_STRING', '00020101021226SANDBOX5303360')]
  if (type === 'BANK TRANSFER') return [present('VIRTUAL_ACCOUNT_NUMBER', '8808999912345678')]
  return [{ type: 'REDIRECT_CUSTOMER', descriptor: 'WEB_URL', value: null }]
}

const present = (descriptor: string, value: string) => ({
  type: 'PRESENT_TO_CUSTOMER',
  descriptor,
  value,
})
