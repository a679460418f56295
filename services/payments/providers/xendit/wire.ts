import { type Static, Type } from 'typebox'
import { ProviderNumber } from '#shared/provider/amount'

/** Samples leave out what the reference says is null, so both are taken. */
const maybe = <T extends Type.TSchema>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]))
const Id = Type.String({ pattern: '^[A-Za-z0-9_-]{1,80}$' })
const Word = Type.String({ maxLength: 80 })

/** `POST /sessions`, `GET /sessions/{id}`. It names no channel. */
export const WireSession = Type.Object({
  payment_session_id: Id,
  reference_id: Type.String({ maxLength: 255 }),
  status: Word,
  payment_link_url: maybe(Type.String({ pattern: '^https?://', maxLength: 2_000 })),
  expires_at: maybe(Type.String({ maxLength: 40 })),
  payment_request_id: maybe(Id),
  payment_id: maybe(Id),
})
export type WireSession = Static<typeof WireSession>

/** `GET /v3/payments/{id}`. There is no `amount`; what was collected stands in `captures`. */
export const WirePayment = Type.Object({
  payment_id: Id,
  payment_request_id: maybe(Id),
  reference_id: Type.String({ maxLength: 255 }),
  status: Word,
  currency: Word,
  channel_code: Word,
  request_amount: ProviderNumber,
  captures: maybe(
    Type.Array(
      Type.Object({
        capture_amount: ProviderNumber,
        capture_timestamp: maybe(Type.String({ maxLength: 40 })),
      }),
    ),
  ),
  created: maybe(Type.String({ maxLength: 40 })),
})
export type WirePayment = Static<typeof WirePayment>

/** `GET /v3/payment_requests/{id}`, as far as it leads to its payment. */
export const WirePaymentRequest = Type.Object({
  payment_request_id: Id,
  latest_payment_id: maybe(Id),
})

/** `GET /refunds/{id}`. */
export const WireRefund = Type.Object({
  id: Id,
  status: Word,
  payment_id: maybe(Id),
  payment_request_id: maybe(Id),
  reference_id: maybe(Type.String({ maxLength: 255 })),
  currency: Word,
  amount: ProviderNumber,
})
export type WireRefund = Static<typeof WireRefund>

/** `GET /refunds?payment_request_id=…`: in the provider's SDK, not in its current reference. */
export const WireRefunds = Type.Object({ data: Type.Array(WireRefund) })
