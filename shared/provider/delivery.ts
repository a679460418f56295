import { asObject, jsonObject } from '#platform/schema'

/** Services that read deliveries. A delivery is for one of them. */
export const deliveryReaders = ['payments', 'payouts'] as const
export type DeliveryReader = (typeof deliveryReaders)[number]

/** Returns the reader of a delivery: payouts for every event of a payout, payments for all others, also unknown ones. */
export function readerOf(body: string): DeliveryReader {
  const event = jsonObject(body)?.event
  return typeof event === 'string' && /^(v3_)?payout(\.|$)/.test(event) ? 'payouts' : 'payments'
}

const used = [
  'id',
  'payment_session_id',
  'payment_request_id',
  'payment_id',
  'refund_id',
  'payout_id',
  'dispute_id',
  'reference_id',
  'status',
] as const

const textMax = 200

/**
 * Reduces a delivery to its event and ids, in the form of the whole body. So no name, account number or card is stored;
 * the objects are fetched from the provider's API. Most bodies have their ids in `data`, but those of disputes are flat
 * (docs.xendit.co/apidocs/dispute-webhook-notifications).
 */
export function keptDelivery(body: string): string {
  const envelope = jsonObject(body) ?? {}
  const outer = asObject(envelope.data)
  const inner = asObject(outer?.data)
  const data = outer && { ...keptIn(outer), ...(inner && { data: keptIn(inner) }) }
  return JSON.stringify({ event: keptValue(envelope.event), ...keptIn(envelope), ...(data && { data }) })
}

const keptIn = (object: Record<string, unknown>) =>
  Object.fromEntries(used.filter((key) => Object.hasOwn(object, key)).map((key) => [key, keptValue(object[key])]))

/** Reduces a value. An object is emptied, because its content is not read. */
const keptValue = (value: unknown): unknown => {
  if (typeof value === 'string') return value.slice(0, textMax)
  return typeof value === 'object' && value !== null ? {} : value
}
