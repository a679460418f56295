import { type Reaction, reactTo } from '#shared/bus/reaction'
import type { Tx } from '#shared/db/open'
import type { Log } from '#shared/log'
import { PaymentsWebhook } from '#shared/messages/webhooks'
import { type Anomaly, recordAnomaly } from './anomaly.store.ts'
import type { Evidence } from './cashout.ts'
import type { PayoutProvider } from './payout-provider.ts'
import { recordEvidence } from './status.store.ts'
import { readDelivery } from './webhook.ts'

type Found = { evidence: Evidence } | { anomaly: Anomaly } | undefined

export type WebhookDesk = {
  provider: PayoutProvider
  sweepAfterMs: number
  log: Log
  /** Names a boundary that is reached once the transaction under way has committed. */
  reached: (boundary: string) => void
}

/** Deliveries about payouts; all others are read by the service they concern. */
export const webhookReactions = (desk: WebhookDesk): Reaction[] => [
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
      const evidence = await desk.provider.find(hint.payoutId)
      if (evidence) return { evidence }
      return { anomaly: { kind: 'payout_unknown', object: hint.payoutId, says: 'not found' } }
    },
    apply: async (tx, _, found: Found) => {
      if (!found) return
      if ('anomaly' in found) return report(tx, found.anomaly, desk.log)
      const step = await recordEvidence(tx, found.evidence, desk)
      desk.reached('payouts:status-committed')
      if ('next' in step && step.next === 'returning') desk.reached('payouts:return-ordered')
    },
  }),
]

async function report(tx: Tx, anomaly: Anomaly, log: Log): Promise<void> {
  if (await recordAnomaly(tx, anomaly)) log.warn({ anomaly }, 'payout delivery does not fit')
}
