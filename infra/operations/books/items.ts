import { signedMicro } from './schema.store'
import { type BookSpan, moment } from './span'

export const journals = ['payments', 'payouts', 'chain_relayer', 'books'] as const

/** Query of the lines of all journals. Reports use it as it is, because a database that is read only creates no view. */
export const lines = `(${journals
  .map(
    (name) => `select '${name}'::text as journal, posting, line, event, item, account, asset, amount,
      booked_at from ${name}.journal`,
  )
  .join(' union all ')})`

const linesView = `create or replace temporary view lines as ${lines}`

const strayMove = "m.tx_hash || ':' || m.log_index"

/** Signed amount of a movement, positive if AUSD came to the treasury. */
const signed = signedMicro('m')

/** Id of a refund. Some refunds in our rows have only the id of their row in the provider's list. */
const refundId = `case m.type when 'chargeback' then 'chargeback:' || m.transaction_id
  else coalesce(m.product_id, 'listed:' || m.transaction_id) end`

/** Payment of a refund that we ordered. In its reference, a number may follow the payment id. */
const orderedFor = "regexp_replace(m.reference, '^ordered-(pay_.{22}).*$', '\\1')"

/**
 * States in which an item with a scheduled check does not change: it is on hold, or it is over and rechecked for late
 * money or a reversal. Items in any other state are compared.
 */
const resting = {
  payments: "('held', 'repaid', 'expired', 'replaced')",
  payouts: "('opening', 'expired', 'paid', 'failed')",
} as const

/**
 * Items that changed since the last run. A return that the relayer gave up has no next check, so it is included for an
 * hour, until the rule `overdue` opens a break.
 */
export const touchedItems = ({ since, block }: BookSpan) => `
    select id as item from payments.payments where changed_at >= ${moment(since)}
    union select id from payouts.payouts where changed_at >= ${moment(since)}
    union select payment_id || '/reversal' from payments.reversals where updated_at >= ${moment(since)}
    union select item from ${lines} l where booked_at >= ${moment(since)}
    union select coalesce(n.item, ${strayMove})
      from books.chain_moves m left join books.names n on n.key = m.key where m.block > ${block}
    union select coalesce(r.payment_id, ${orderedFor}, m.transaction_id)
      from books.provider_moves m left join payments.refunds r on r.id = ${refundId}
      where m.read_at >= ${moment(since)}
    union select id from payments.payments
      where next_check_at is not null and state not in ${resting.payments}
    union select id from payouts.payouts
      where next_check_at is not null and state not in ${resting.payouts}
    union select id from payouts.payouts where state = 'returning'
      and changed_at >= ${moment(since)} - interval '1 hour'
    union select item from books.breaks where closed_at is null`

const touched = (span: BookSpan) => `
  create temporary table touched on commit drop as ${touchedItems(span)};
  create unique index on touched (item);
  analyze touched;`

const booked = `
  create temporary table booked on commit drop as
    select t.item, l.journal, l.account, l.asset, sum(l.amount) as amount
    from touched t join lines l on l.item = t.item
    group by t.item, l.journal, l.account, l.asset having sum(l.amount) <> 0;
  create index on booked (item);
  analyze booked;`

const moves = ({ block }: BookSpan) => `
  create temporary table moves on commit drop as
    select n.item, n.ref_sequence, n.kind as named, m.*, ${signed} as signed
      from touched t join books.names n on n.item = t.item
      join books.chain_moves m on m.key = n.key
    union all select ${strayMove}, 0, null, m.*, ${signed} from books.chain_moves m
      where m.block > ${block}
      and not exists (select from books.names n where n.key = m.key)
    union all select t.item, 0, null, m.*, ${signed}
      from touched t join books.chain_moves m on t.item like '0x%:%'
        and m.tx_hash = split_part(t.item, ':', 1) and m.log_index::text = split_part(t.item, ':', 2)
      where m.block <= ${block}
      and not exists (select from books.names n where n.key = m.key);
  create index on moves (item);
  analyze moves;`

/**
 * Movements of the provider per item. Operators record how much of a movement of an unknown type was taken from which
 * payment, so that each has its share of it.
 */
const money = ({ since }: BookSpan) => `
  create temporary table money on commit drop as
    select item, m.account, transaction_id, type, status, product_id, ${refundId} as refund_id,
      coalesce(m.currency, '-') as asset, amount_minor as amount, m.changed_at, m.read_at,
      case when status <> 'succeeded' then 0 when type = 'payment' then amount_minor
        else -amount_minor end as signed
    from (
      select t.item, m.* from touched t join books.provider_moves m on m.reference = t.item
      union select t.item, m.* from touched t
        join books.provider_moves m on m.reference = 'ordered-' || t.item
      union select t.item, m.* from touched t join payments.refund_orders o on o.payment_id = t.item
        join books.provider_moves m on m.account = o.account and m.reference = o.reference
      union select t.item, m.* from touched t join payments.payments p on p.id = t.item
        join books.provider_moves m on m.product_id = p.provider_payment_id
      union select t.item, m.* from touched t join payments.payments p on p.id = t.item
        join payments.refunds r on r.provider_payment_id = p.provider_payment_id
        join books.provider_moves m on m.product_id = r.id
      union select t.item, m.* from touched t join payments.payments p on p.id = t.item
        join payments.refunds r on r.provider_payment_id = p.provider_payment_id
          and r.origin = 'chargeback'
        join books.provider_moves m on m.account = p.account
          and m.transaction_id = substr(r.id, length('chargeback:') + 1)
      union select t.item, m.* from touched t join payments.payments p on p.id = t.item
        join payments.refunds r on r.provider_payment_id = p.provider_payment_id
          and r.id like 'listed:%'
        join books.provider_moves m on m.account = p.account
          and m.transaction_id = substr(r.id, length('listed:') + 1)
      union select t.item, m.* from touched t join payouts.payouts p on p.id = t.item
        join books.provider_moves m on m.product_id = p.provider_payout_id
    ) m where not (type = 'unknown'
      and exists (select from payments.refunds r where r.id = 'chargeback:' || m.transaction_id))
    union all select t.item, m.account, m.transaction_id, m.type, m.status, m.product_id, r.id,
      coalesce(m.currency, '-'), r.refunded_minor, m.changed_at, m.read_at,
      case when m.status = 'succeeded' and r.status = 'succeeded' then -r.refunded_minor else 0 end
    from touched t join payments.payments p on p.id = t.item
    join payments.refunds r on r.provider_payment_id = p.provider_payment_id and r.origin = 'chargeback'
    join books.provider_moves m on m.account = p.account and m.type = 'unknown'
      and m.transaction_id = split_part(r.id, ':', 2);
  create index on money (item);
  create temporary table stray_money on commit drop as
    select m.* from (
      select * from books.provider_moves where read_at >= ${moment(since)}
      union select p.* from books.breaks b join books.provider_moves p
        on p.account in ('ID', 'MY') and p.transaction_id = b.item where b.closed_at is null
    ) m
    where not exists (select from payments.payments p
        where p.id = ${orderedFor})
      and not exists (select from payouts.payouts p where p.id = m.reference)
      and not exists (select from payments.refunds r where r.id in (${refundId}, 'chargeback:' || m.transaction_id))
      and not exists (select from payments.payments p where p.provider_payment_id = m.product_id)
      and not exists (select from payouts.payouts p where p.provider_payout_id = m.product_id);
  analyze money;
  analyze stray_money;`

export const itemTables = (span: BookSpan): string[] => [linesView, touched(span), booked, moves(span), money(span)]
