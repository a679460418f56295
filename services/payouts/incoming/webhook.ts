import { type Reaction, reactTo } from '#platform/bus/reaction'
import { PaymentsWebhook } from '#shared/messages/webhooks'
import { refusesId } from '#shared/provider/problem'
import { findPaidAs } from '../cashout.store'
import type { Context } from '../context'
import { recordRefusal } from '../paying/pay'
import type { Evidence } from '../provider'
import { type Anomaly, recordAnomaly } from '../schema.store'
import { decisiveOf, receiveEvidence } from './receive'

type Found = { evidence: readonly Evidence[] } | { anomaly: Anomaly } | undefined

export const webhookReactions = (context: Context): Reaction[] => [
  reactTo(PaymentsWebhook, {
    concerns: ({ body }) => context.provider.readDelivery(body).about !== 'other',
    find: async ({ account, deliveryId, body }): Promise<Found> => {
      const hint = context.provider.readDelivery(body)
      if (hint.about === 'other') return undefined
      const event = hint.about === 'payout' ? hint.payoutId : hint.event
      // The Indonesian account is the only one that makes payouts, and its key is the only one that can fetch them.
      if (account !== 'ID') return { anomaly: { kind: 'other_account', object: deliveryId, says: event } }
      if (hint.about === 'odd_payout') return { anomaly: { kind: 'event_unknown', object: deliveryId, says: event } }
      // guard: a webhook is a hint: its payout is fetched
      const evidence = await context.provider
        .find(hint.payoutId)
        .catch((error) => noSuchPayout(context, hint.payoutId, error))
      if (evidence) return { evidence: await decisiveOf(context, [evidence]) }
      return { anomaly: { kind: 'payout_unknown', object: hint.payoutId, says: 'not found' } }
    },
    apply: async (tx, _, found: Found) => {
      if (!found) return
      if ('anomaly' in found) {
        const { anomaly } = found
        if (await recordAnomaly(tx, anomaly)) context.log.warn({ anomaly }, 'unexpected payout webhook')
        return
      }
      for (const evidence of found.evidence) await receiveEvidence(tx, context, evidence)
    },
  }),
]

/**
 * Returns no payout if the provider refused an id that is not of its own form: no such payout exists. A
 * refused id of one of our payouts raises an alert.
 */
async function noSuchPayout(context: Context, payoutId: string, error: unknown) {
  const own = refusesId(error) ? await context.database.read((db) => findPaidAs(db, payoutId)) : undefined
  if (own) await recordRefusal(context, own, error)
  if (own || !refusesId(error)) throw error
  return undefined
}
