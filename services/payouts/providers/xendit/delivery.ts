import { asObject, jsonObject } from '#platform/schema'
import { readerOf } from '#shared/provider/delivery'
import type { Hint } from '../../provider'

/** Parses a webhook leniently: `data` is flat on the wire, but the REST object in the documentation. */
export function readDelivery(body: string): Hint {
  const envelope = jsonObject(body)
  const event = typeof envelope?.event === 'string' ? envelope.event.slice(0, 80).replace(/\p{Cc}/gu, '?') : ''
  if (readerOf(body) !== 'payouts') return { about: 'other' }
  const data = asObject(envelope?.data)
  // The id is `id` in v2 and `payout_id` in v3; an empty string counts as absent.
  const id = [data?.payout_id, data?.id].find((one) => one !== undefined && one !== null && one !== '')
  // The id becomes part of a path, so its form is checked. Its length is undocumented.
  const fits = typeof id === 'string' && /^[A-Za-z0-9_-]{1,100}$/.test(id)
  return fits ? { about: 'payout', payoutId: id } : { about: 'odd_payout', event }
}
