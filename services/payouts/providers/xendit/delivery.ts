import { asObject, jsonObject } from '#shared/schema'
import type { Hint } from '../../provider'

/**
 * Lenient, as the port asks for. `data` is flat on the wire and the REST object in the documentation;
 * the id stands at the same place in both.
 */
export function readDelivery(body: string): Hint {
  const envelope = jsonObject(body)
  const event =
    typeof envelope?.event === 'string' ? envelope.event.slice(0, 80).replace(/\p{Cc}/gu, '?') : ''
  const [family] = event.split('.')
  if (family !== 'payout' && family !== 'v3_payout') return { about: 'other' }
  const data = asObject(envelope?.data)
  // v2 calls it `id`, v3 `payout_id`; an empty text is absent.
  const id = [data?.payout_id, data?.id].find(
    (one) => one !== undefined && one !== null && one !== '',
  )
  // It becomes a part of a path, so its form is checked; its length is not ours to know.
  const fits = typeof id === 'string' && /^[A-Za-z0-9_-]{1,100}$/.test(id)
  return fits ? { about: 'payout', payoutId: id } : { about: 'odd_payout', event }
}
