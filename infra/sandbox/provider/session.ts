import { businessIdOf, currencyOf } from '../account'
import { majorFromMinor } from '../money'
import type { PaymentSession } from '../records'

/** Returns a session as in API responses. Like the real one, it has no channel. */
export function sessionBody(session: PaymentSession, publicUrl: string): Record<string, unknown> {
  const currency = currencyOf[session.account]
  return {
    payment_session_id: session.id,
    created: session.createdAt,
    updated: session.updatedAt,
    status: session.status,
    reference_id: session.referenceId,
    customer_id: session.customerId,
    session_type: 'PAY',
    allow_save_payment_method: 'DISABLED',
    currency,
    amount: majorFromMinor(session.amountMinor, currency),
    country: session.account,
    mode: 'PAYMENT_LINK',
    capture_method: session.captureMethod,
    channel_properties: null,
    allowed_payment_channels: session.allowedChannels,
    expires_at: session.expiresAt,
    locale: session.locale,
    metadata: null,
    description: session.description,
    items: null,
    notification_channels: null,
    subscription: null,
    success_return_url: session.successReturnUrl,
    cancel_return_url: session.cancelReturnUrl,
    payment_link_url: `${publicUrl}/checkout/${session.id}`,
    payment_token_id: null,
    payment_request_id: session.requestId,
    payment_id: session.paymentId,
    business_id: businessIdOf[session.account],
    components_sdk_key: null,
    components_configuration: null,
    ...session.echoed,
  }
}

/** Returns a session as in webhooks. It has the payment's ids only once it is completed. */
export function sessionEventBody(session: PaymentSession, publicUrl: string): Record<string, unknown> {
  const {
    capture_method: _method,
    channel_properties: _properties,
    allowed_payment_channels: _channels,
    metadata: _metadata,
    notification_channels: _notifications,
    subscription: _subscription,
    components_sdk_key: _key,
    components_configuration: _components,
    payment_token_id,
    payment_request_id,
    payment_id,
    ...rest
  } = sessionBody(session, publicUrl)
  if (session.status !== 'COMPLETED') return rest
  return { ...rest, payment_token_id, payment_request_id, payment_id }
}
