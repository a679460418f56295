import { type Messenger, messengers } from '#infra/migrations/databases'
import { atOnceMs, type BookRule } from './rule'

/** Longest time in each state. These limits are deliberately independent of the services' own. */
const payments: readonly [state: string, minutes: number, from: string, only?: string][] = [
  ['opening', 45, 'created_at'],
  ['awaiting_payment', 90, 'coalesce(expires_at, created_at)'],
  ['expired', 120, 'updated_at', "reason = 'awaiting_rate'"],
  ['replaced', 120, 'updated_at', "reason = 'awaiting_rate'"],
  ['paid', 15, 'updated_at'],
  ['held', 9 * 1_440, 'updated_at'],
  ['repaid', 9 * 1_440, 'updated_at', 'held and hold_ended_at is null'],
  ['revoking', 15, 'updated_at'],
  ['refunding', 1_500, 'updated_at'],
  // A manual review has no limit of its own, but AUSD that is still committed is owed to the user.
  ['review', 1_440, 'updated_at', "exists (select from booked b where b.item = id and b.account = 'promises')"],
]
const payouts: readonly [state: string, minutes: number][] = [
  ['opening', 15],
  ['taking', 20],
  ['taken', 15],
  ['paying', 180],
  ['returning', 15],
]
const operationMinutes = 20

const late = (state: string, minutes: number, from: string, only = 'true') =>
  `(state = '${state}' and ${from} < now() - interval '${minutes} minutes' and ${only})`

const everySender = (one: (schema: Messenger) => string) => messengers.map(one).join(' union all ')

export const waitingRules: readonly BookRule[] = [
  {
    name: 'overdue',
    says: 'no item exceeds the time limit of its state',
    graceMs: atOnceMs,
    remedy: 'see the alarm of its service',
    sql: () => `
      select id as item, 'AUSD' as asset, ausd_micro as amount,
        format('%s of %s has been %s since %s', kind, ausd_micro, state,
          date_trunc('second', updated_at)) as about
      from (
        select * from payments.payments where next_check_at is not null
        union select p.* from touched t join payments.payments p on p.id = t.item
      ) p where (${payments.map((row) => late(...row)).join(' or ')})
      union all
      select id, 'AUSD', ausd_micro, format('cash-out of %s has been %s since %s', ausd_micro, state,
        date_trunc('second', updated_at))
      from (
        select id, ausd_micro, state, updated_at from payouts.payouts where next_check_at is not null
        union select id, ausd_micro, state, updated_at
          from touched t join payouts.payouts p on p.id = t.item
      ) p where (${payouts.map(([state, minutes]) => late(state, minutes, 'updated_at')).join(' or ')})
      union all
      select id, 'AUSD', leaves_micro, format('%s of %s has been %s since %s%s', kind, cause, state,
        date_trunc('second', created_at), ': ' || reason)
      from chain_relayer.operation where state in ('waiting', 'assigned')
        and created_at < now() - interval '${operationMinutes} minutes'`,
  },
  {
    name: 'unsent',
    says: 'no message stays unsent for a minute',
    graceMs: 60_000,
    remedy: 'check that NATS responds and that no stream is full',
    command: () => 'in-flight',
    sql: () =>
      everySender(
        (schema) => `
      select id as item, '-' as asset, 0 as amount, format('%s of ${schema} has not been sent since %s',
        subject, date_trunc('second', created_at)) as about
      from ${schema}.outbox
      where published_at is null and created_at < now() - interval '1 minute'`,
      ),
  },
  {
    name: 'dead_letter',
    says: 'no message is dead-lettered',
    graceMs: atOnceMs,
    remedy: 'fix the cause, then run `bun run ops dead-letters redrive`',
    command: ({ word }) => `dead-letters show ${word}`,
    sql: () =>
      everySender(
        (schema) => `
      select message_id as item, '-' as asset, 0 as amount,
        format('%s, dead-lettered by %s: %s', subject, consumer, reason) as about
      from ${schema}.dead_letter where redriven_at is null`,
      ),
  },
]
