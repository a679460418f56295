import { type Reaction, reactTo } from '#shared/bus/reaction'
import { failpoint } from '#shared/failpoint'
import { PaymentsWebhook } from '#shared/messages/webhooks'
import { refusesId } from '#shared/provider/problem'
import { findPaidAs } from './cashout.store'
import type { Context } from './context'
import { noteRefusal } from './pay'
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
    concerns: ({ body }) => context.provider.readDelivery(body).about !== 'other',
    find: async ({ account, deliveryId, body }): Promise<Found> => {
      const hint = context.provider.readDelivery(body)
      if (hint.about === 'other') return undefined
      const event = hint.about === 'payout' ? hint.payoutId : hint.event
      // Payouts leave from the Indonesian account alone, and only its key could ask for them.
      if (account !== 'ID')
        return { anomaly: { kind: 'other_account', object: deliveryId, says: event } }
      if (hint.about === 'odd_payout')
        return { anomaly: { kind: 'event_unknown', object: deliveryId, says: event } }
      const evidence = await context.provider
        .find(hint.payoutId)
        .catch((error) => noSuchPayout(context, hint.payoutId, error))
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

/**
 * An id of another form than the provider's own is refused, for ever: there is no such payout. Of one
 * that we hold that says nothing: then it is unknown, and a person is called.
 */
async function noSuchPayout(context: Context, payoutId: string, error: unknown) {
  const own = refusesId(error)
    ? await context.database.read((db) => findPaidAs(db, payoutId))
    : undefined
  if (own) await noteRefusal(context, own, error)
  if (own || !refusesId(error)) throw error
  return undefined
}

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
