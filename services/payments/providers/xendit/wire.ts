import { type Static, Type } from 'typebox'

// What is read of the provider's objects. Samples leave out what the reference says is null, amounts
// come as numbers and now and then as text, and words are added without notice: every field is read
// by `shared/provider/field.ts`, and one of another form is missing.

const anything = Type.Optional(Type.Unknown())
const Id = Type.String({ pattern: '^[A-Za-z0-9_-]{1,100}$' })

const session = {
  ...{ reference_id: anything, status: anything, payment_link_url: anything },
  ...{ expires_at: anything, payment_request_id: anything, payment_id: anything },
}
/** `GET /sessions/{id}`. It names no channel. */
export const WireSession = Type.Object({ payment_session_id: anything, ...session })
export type WireSession = Static<typeof WireSession>

/** `POST /sessions`: without its id we could never ask what became of it. */
export const WireOpened = Type.Object({ payment_session_id: Id, ...session })

/** `GET /v3/payments/{id}`. There is no `amount`; what was collected stands in `captures`. */
export const WirePayment = Type.Object({
  ...{ payment_id: anything, payment_request_id: anything, reference_id: anything },
  ...{ status: anything, currency: anything, channel_code: anything, created: anything },
  /** What was asked for; left out of some payments that have captures. */
  request_amount: anything,
  captures: anything,
  /** Of merchants of the virtual-asset category, in Indonesia; see `sender.ts`. */
  ...{ verification_data: anything, sender_verification: anything, payment_details: anything },
})
export type WirePayment = Static<typeof WirePayment>

/** `GET /v3/payment_requests/{id}`, as far as it leads to its payment. */
export const WirePaymentRequest = Type.Object({ latest_payment_id: anything })

const refund = {
  ...{ status: anything, payment_id: anything, payment_request_id: anything },
  ...{ reference_id: anything, currency: anything, amount: anything },
}
/** `GET /refunds/{id}`. */
export const WireRefund = Type.Object({ id: anything, ...refund })
export type WireRefund = Static<typeof WireRefund>

/** `POST /refunds`: without its id we could not tell it from another. */
export const WireRefundMade = Type.Object({ id: Id, ...refund })

/**
 * `GET /refunds?payment_request_id=…`: in the provider's SDK, not in its current reference. A row
 * without its id could not be told from another, and a hold may depend on it.
 */
export const WireRefunds = Type.Object({ data: Type.Array(WireRefundMade) })
