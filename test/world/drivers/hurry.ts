import type { Sql } from 'postgres'

/**
 * Ends waits early that a service makes only after a crash: the two-minute lease of an identity check, and the minute for
 * which a refund that the provider does not list may still exist.
 */
export async function hurry(sql: Sql): Promise<void> {
  await sql`
    update gateway.identity_rechecks set next_check_at = now()
    where checked_at is null and next_check_at between now() + interval '60 seconds' and now() + interval '117 seconds'`
  await sql`
    with asked as (
      update payments.refund_orders set requested_at = requested_at - interval '1 minute'
      where requested_at > now() - interval '50 seconds'
      returning payment_id
    ) update payments.payments set next_check_at = now()
    where state = 'refunding' and id in (select payment_id from payments.refund_orders)`
}
