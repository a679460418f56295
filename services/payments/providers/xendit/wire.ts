import { type Static, Type } from 'typebox'

// The provider's samples omit null fields, amounts may be strings, and new values appear without notice. So
// `shared/provider/field.ts` parses each field leniently.

const anything = Type.Optional(Type.Unknown())
const Id = Type.String({ pattern: '^[A-Za-z0-9_-]{1,100}$' })

const session = {
  reference_id: anything,
  status: anything,
  payment_link_url: anything,
  expires_at: anything,
  payment_request_id: anything,
  payment_id: anything,
}
/** Response of `GET /sessions/{id}`. It names no channel. */
export const WireSession = Type.Object({ payment_session_id: anything, ...session })
export type WireSession = Static<typeof WireSession>

/** Response of `POST /sessions`. The id is required, because without it the checkout could not be looked up. */
export const WireOpened = Type.Object({
  payment_session_id: Id,
  ...session,
  amount: anything,
  currency: anything,
})
export type WireOpened = Static<typeof WireOpened>

/** Response of `GET /v3/payments/{id}`. It has no `amount`; the collected amounts are in `captures`. */
export const WirePayment = Type.Object({
  payment_id: anything,
  payment_request_id: anything,
  reference_id: anything,
  status: anything,
  currency: anything,
  channel_code: anything,
  created: anything,
  /** Requested amount; omitted from some payments that have captures. */
  request_amount: anything,
  captures: anything,
  /** Candidates for the sender verification; see `sender.ts`. */
  verification_data: anything,
  sender_verification: anything,
  verification_result: anything,
  payment_details: anything,
})
export type WirePayment = Static<typeof WirePayment>

/** Response of `GET /v3/payment_requests/{id}`. */
export const WirePaymentRequest = Type.Object({
  payment_request_id: anything,
  latest_payment_id: anything,
})

const refund = {
  status: anything,
  payment_id: anything,
  payment_request_id: anything,
  reference_id: anything,
  currency: anything,
  amount: anything,
}
/**
 * Response of `GET /refunds/{id}`, and of `GET /v3/refunds/{id}`, whose refund is named `refund_id` and has no payment
 * request (docs.xendit.co/apidocs/get-a-refund).
 */
export const WireRefund = Type.Object({ id: anything, refund_id: anything, ...refund })
export type WireRefund = Static<typeof WireRefund>

/** Response of `POST /refunds`. The id is required to tell refunds apart. */
export const WireRefundMade = Type.Object({ id: Id, ...refund })
export type WireRefundMade = Static<typeof WireRefundMade>

/** Response of `GET /v1/disputes/{id}` (docs.xendit.co/apidocs/get-dispute-details). */
export const WireDispute = Type.Object({
  id: anything,
  status: anything,
  currency: anything,
  /** `initial` and `terminal`; the latter is null until the dispute is decided. */
  amount: anything,
  due_date: anything,
  payment_id: anything,
  reference_id: anything,
})
export type WireDispute = Static<typeof WireDispute>

/**
 * Response of `GET /refunds?payment_request_id=…`, which is in the provider's SDK but not in its current
 * reference. A hold may depend on telling refunds apart, so each row needs its id.
 */
export const WireRefunds = Type.Object({ data: Type.Array(WireRefundMade), has_more: anything })
