import { asObject, jsonObject } from '#platform/schema'
import { readerOf } from '#shared/provider/delivery'
import type { Hint } from '../../provider'

type Json = Record<string, unknown>

/** Readers by event family, so that new events of a known family are understood. */
const families: ReadonlyMap<string, (data: Json) => Hint | undefined> = new Map([
  // The dashboard's sample delivery calls the session id `id`.
  ['payment_session', hint('checkout', 'checkoutId', 'payment_session_id', 'id')],
  ['payment', hint('payment', 'paymentId', 'payment_id', 'id')],
  ['payment_request', hint('payment_request', 'paymentRequestId', 'payment_request_id', 'id')],
  ['refund', refundHint],
  ['dispute', disputeHint],
])

/** Events that a paid checkout and its payment send at the same moment. */
const paidEvents: ReadonlySet<string> = new Set(['payment.capture', 'payment_session.completed'])

/** Ids of an object, the most specific first. */
const idKeys = ['id', 'dispute_id', 'refund_id', 'payout_id', 'payment_session_id', 'payment_id', 'payment_request_id']

export function readDelivery(body: string): Hint {
  if (readerOf(body) === 'payouts') return { about: 'payout' }
  const envelope = jsonObject(body)
  const event = wordFrom(envelope?.event)
  const outer = asObject(envelope?.data)
  // The documentation's refund sample wraps a second envelope around the object, and disputes have none.
  const data = asObject(outer?.data) ?? outer ?? envelope
  const read = families.get(event.split('.')[0] ?? '')
  const objects = [data, outer, envelope].filter((one) => one !== undefined)
  const object = objects.flatMap((one) => [...idKeys, 'reference_id'].flatMap((key) => idAt(one, key) ?? []))[0] ?? null
  const hint = data && read?.(data)
  if (!hint) return { about: 'unknown', event, object }
  const paidBy = data && paidEvents.has(event) ? idAt(data, 'payment_id') : undefined
  return paidBy === undefined ? hint : ({ ...hint, paidBy } as Hint)
}

/** Returns the event name without control characters, which Postgres rejects. */
const wordFrom = (event: unknown): string =>
  typeof event === 'string' ? event.slice(0, 80).replace(/\p{Cc}/gu, '?') : '(none)'

function hint(about: 'checkout' | 'payment' | 'payment_request', as: string, ...keys: string[]) {
  return (data: Json): Hint | undefined => {
    const id = idAt(data, ...keys)
    const reference = idAt(data, 'reference_id')
    const named = reference === undefined ? {} : { reference }
    return id === undefined ? undefined : ({ about, [as]: id, ...named } as Hint)
  }
}

function refundHint(data: Json): Hint | undefined {
  const refundId = idAt(data, 'id', 'refund_id')
  return refundId === undefined ? undefined : { about: 'refund', refundId, ...paymentNamedIn(data) }
}

function disputeHint(data: Json): Hint | undefined {
  const disputeId = idAt(data, 'id', 'dispute_id')
  return disputeId === undefined ? undefined : { about: 'dispute', disputeId, ...paymentNamedIn(data) }
}

/** Returns the ids by which a refund or dispute names its payment. Each may be missing. */
function paymentNamedIn(data: Json) {
  const reference = idAt(data, 'reference_id')
  return {
    paymentId: idAt(data, 'payment_id') ?? null,
    paymentRequestId: idAt(data, 'payment_request_id') ?? null,
    ...(reference === undefined ? {} : { reference }),
  }
}

/** Returns the first non-empty value. Checks its form, because it becomes part of a path. */
function idAt(data: Json, ...keys: string[]): string | undefined {
  const id = keys.map((key) => data[key]).find((value) => value !== undefined && value !== null && value !== '')
  return typeof id === 'string' && /^[A-Za-z0-9_-]{1,80}$/.test(id) ? id : undefined
}
