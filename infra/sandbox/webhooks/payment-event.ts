import { type Account, businessIdOf } from '../account'
import { type Context, nowText } from '../context'

/**
 * Sends an event. As observed, payment events have api_version v3 and payout events v2; session and refund events have
 * none.
 */
export function deliverEvent(context: Context, account: Account, event: string, data: Record<string, unknown>): void {
  const envelope = {
    created: nowText(context),
    business_id: businessIdOf[account],
    event,
    ...versionOf(event),
    data,
  }
  context.webhooks.send({ source: 'payments', account, event, body: JSON.stringify(envelope) })
}

function versionOf(event: string): { api_version?: string } {
  if (event.startsWith('payment.') || event.startsWith('payment_request.')) {
    return { api_version: 'v3' }
  }
  if (event.startsWith('v3_payout.')) return { api_version: '2025-09-09' }
  return event.startsWith('payout.') ? { api_version: 'v2' } : {}
}
