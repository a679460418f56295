import type { Tx } from '#platform/db/open'
import type { Context } from './context'
import type { PaymentRow } from './payment.table'
import { type AnomalyKind, recordAnomaly } from './schema.store'

/** Records an anomaly, and raises an alert the first time that it is recorded. */
export async function raiseAlert(
  tx: Tx,
  { log }: Context,
  kind: Extract<
    AnomalyKind,
    'status_unknown' | 'amount_unknown' | 'sender_unverified' | 'charge_doubtful' | 'charge_ambiguous'
  >,
  about: {
    account: PaymentRow['account']
    object: string
    paymentId?: string
    currency?: string
    amountMinor?: bigint | null
  },
): Promise<void> {
  if (!(await recordAnomaly(tx, { kind, ...about }))) return
  log.alarm({ kind, object: about.object }, 'unclear report from provider')
}
