import { type Static, Type } from 'typebox'

// Samples omit null fields, amounts may be strings, and new values appear without notice, so
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
/** `GET /sessions/{id}`. It has no channel. */
export const WireSession = Type.Object({ payment_session_id: anything, ...session })
export type WireSession = Static<typeof WireSession>

/** `POST /sessions`: without the id the checkout could not be looked up. */
export const WireOpened = Type.Object({
  payment_session_id: Id,
  ...session,
  amount: anything,
  currency: anything,
})
export type WireOpened = Static<typeof WireOpened>

/** `GET /v3/payments/{id}`. It has no `amount`; the collected amounts are in `captures`. */
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
  /** See `sender.ts`. */
  verification_data: anything,
  sender_verification: anything,
  payment_details: anything,
})
export type WirePayment = Static<typeof WirePayment>

/** `GET /v3/payment_requests/{id}`. */
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
/** `GET /refunds/{id}`. */
export const WireRefund = Type.Object({ id: anything, ...refund })
export type WireRefund = Static<typeof WireRefund>

/** `POST /refunds`: the id is required to distinguish refunds. */
export const WireRefundMade = Type.Object({ id: Id, ...refund })
export type WireRefundMade = Static<typeof WireRefundMade>

/**
 * `GET /refunds?payment_request_id=…`: in the provider's SDK, not in its current reference. A hold
 * may depend on distinguishing refunds, so each row needs its id.
 */
export const WireRefunds = Type.Object({ data: Type.Array(WireRefundMade), has_more: anything })
