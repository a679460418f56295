import { type Reaction, reactTo } from '#shared/bus/reaction'
import { failpoint } from '#shared/failpoint'
import { PaymentsWebhook } from '#shared/messages/webhooks'
import type { Context } from './context'
import type { Evidence } from './provider'
import { receiveEvidence } from './receive'
import { type Anomaly, recordAnomaly } from './schema.store'

type Found = { evidence: Evidence } | { anomaly: Anomaly } | undefined

/**
 * Deliveries about payouts; all others are read by the service they concern. `reached` names a
 * failpoint that is passed once the transaction under way has committed.
 */
export const webhookReactions = (
  context: Context,
  reached: (boundary: string) => void,
): Reaction[] => [
  reactTo(PaymentsWebhook, {
    find: async ({ account, deliveryId, body }): Promise<Found> => {
      const hint = readDelivery(body)
      if (hint.about === 'other') return undefined
      const event = hint.about === 'payout' ? hint.payoutId : hint.event
      // Payouts leave from the Indonesian account alone, and only its key could ask for them.
      if (account !== 'ID')
        return { anomaly: { kind: 'other_account', object: deliveryId, says: event } }
      if (hint.about === 'odd_payout')
        return { anomaly: { kind: 'event_unknown', object: deliveryId, says: event } }
      const evidence = await context.provider.find(hint.payoutId)
      if (evidence) return { evidence }
      return { anomaly: { kind: 'payout_unknown', object: hint.payoutId, says: 'not found' } }
    },
    apply: async (tx, _, found: Found) => {
      if (!found) return
      if ('anomaly' in found) {
        const { anomaly } = found
        if (await recordAnomaly(tx, anomaly))
          context.log.warn({ anomaly }, 'payout delivery does not fit')
        return
      }
      const step = await receiveEvidence(tx, context, found.evidence)
      reached('payouts:status-committed')
      if ('next' in step && step.next === 'returning') reached('payouts:return-ordered')
    },
  }),
]

/** What a delivery says about payouts. A hint and no more: what it names is fetched with our key. */
export type Hint =
  | { about: 'payout'; payoutId: string }
  | { about: 'odd_payout'; event: string }
  | { about: 'other' }

/**
 * Reads a delivery leniently. `data` is flat on the wire and the REST object in the documentation;
 * the id stands at the same place in both.
 */
export function readDelivery(body: string): Hint {
  const envelope = jsonObject(body)
  const event = typeof envelope?.event === 'string' ? envelope.event.slice(0, 80) : ''
  const [family] = event.split('.')
  if (family !== 'payout' && family !== 'v3_payout') return { about: 'other' }
  const data = asObject(envelope?.data)
  const id = data?.id
  // It becomes a part of a path, so its form is checked; its length is not ours to know.
  const fits = typeof id === 'string' && /^[A-Za-z0-9_-]{1,100}$/.test(id)
  return family === 'payout' && fits
    ? { about: 'payout', payoutId: id }
    : { about: 'odd_payout', event }
}

function jsonObject(text: string): Record<string, unknown> | undefined {
  try {
    return asObject(JSON.parse(text))
  } catch {
    return undefined
  }
}

const asObject = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined

/** Failpoints of steps that somebody else commits: named during the work, passed after the commit. */
export function openBoundaries() {
  const named = new Set<string>()
  return {
    reached: (boundary: string) => void named.add(boundary),
    /** Called after each commit. */
    pass: () => {
      for (const boundary of named) failpoint(boundary)
      named.clear()
    },
  }
}
