import { type BookSpan, moment } from './span'

// Each item has three independent figures: the first is computed here from its row, without the code that books it; the
// second comes from the journal, and the third from the chain or the provider.

/**
 * Amounts that each payment's row claims. `on_chain` is the effect that the last ref must have had; `or_on_chain` is
 * the alternative while an effect is in progress.
 */
const paymentClaims = `
  create temporary table payment_claims on commit drop as
    select p.id as item, p.kind || ', ' || p.state as what, p.kind, p.state, p.wallet, p.held,
      p.ref_sequence, p.currency, p.onchain_micro, p.updated_at, exchanged,
      'provider_' || lower(p.account) as provider_account,
      own + p.overpaid_minor - second_refunded as fiat, second_refunded,
      case when not exchanged or p.refunded_minor >= p.fiat_minor then 0
        else p.fiat_minor - p.refunded_minor end - beyond_minor as exchanged_minor, beyond,
      worth, fee_earned, p.recovered_micro, p.written_off_micro, given,
      case when exchanged and p.credited_at is null
        then greatest(worth + p.written_off_micro - p.recovered_micro, 0) else 0 end as promised,
      p.held is true and p.hold_ended_at is null as may_be_taken,
      case when p.state in ('held', 'credited', 'repaid', 'revoking') then p.onchain_micro
        when p.state in ('review', 'refunding', 'accepted') and p.credited_at is not null then p.onchain_micro
        else 0 end as on_chain,
      case p.state when 'paid' then p.onchain_micro when 'revoking' then p.left_micro end as or_on_chain
    from touched t join payments.payments p on p.id = t.item
    cross join lateral (select
      p.state in ('paid', 'held', 'credited', 'repaid', 'revoking', 'revoked')
        or ((p.state in ('review', 'refunding') or p.state = 'accepted'
            and (p.credited_at is not null or p.recovered_micro > 0 and p.onchain_micro = 0))
          and p.provider_payment_id is not null
          and coalesce(p.reason, '') not in ('amount_differs', 'currency_differs',
            'sender_unverified', 'excess_refused')) as exchanged,
      case when p.provider_payment_id is null or p.reason = 'currency_differs' then 0
        else coalesce(p.paid_minor, p.fiat_minor) - p.refunded_minor end as own,
      case when p.provider_payment_id is null or coalesce(p.reason, '') = 'currency_differs' then 0
        else greatest(p.refunded_minor - coalesce(p.paid_minor, p.refunded_minor), 0) end
        + greatest(p.overpaid_refunded_minor - p.overpaid_minor, 0) as beyond_minor,
      p.overpaid_refunded_minor as second_refunded) as a
    cross join lateral (select
      case when not exchanged or p.refunded_minor >= p.fiat_minor then 0
        else div(p.ausd_micro * (p.fiat_minor - p.refunded_minor), p.fiat_minor) end as worth,
      div(p.ausd_micro * beyond_minor + p.fiat_minor - p.fee_minor - 1, p.fiat_minor - p.fee_minor) as beyond,
      case when not exchanged or p.refunded_minor >= p.fiat_minor then 0
        else div(p.fee_minor * (p.fiat_minor - p.refunded_minor), p.fiat_minor) end as fee_earned,
      case when exchanged and p.credited_at is not null then p.onchain_micro else 0 end as given) as b;
  create unique index on payment_claims (item);
  analyze payment_claims;`

const payoutClaims = `
  create temporary table payout_claims on commit drop as
    select p.id as item, 'cash-out, ' || p.state as what, p.state, p.wallet, p.authorizer,
      lower(p.authorizer || ':' || p.authorization_nonce) || ':' || p.ausd_micro as take_key,
      p.ausd_micro, p.fiat_minor, p.fee_minor, p.provider_payout_id, p.updated_at,
      case when p.state in ('taken', 'paying', 'paid', 'returning') then p.ausd_micro else 0 end
        as on_chain,
      case p.state when 'taking' then p.ausd_micro when 'returning' then 0 end as or_on_chain,
      case when p.state = 'paid' then -p.fiat_minor else 0 end as fiat,
      case when p.state = 'paying' then -p.fiat_minor end as or_fiat
    from touched t join payouts.payouts p on p.id = t.item;
  create unique index on payout_claims (item);
  analyze payout_claims;`

/**
 * Sums of the journal, the chain and the provider per item. When a payment was paid twice, the row may lack the refunds
 * of the second charge. Those that are recorded in other tables are deducted, and the rest stays in suspense.
 */
const sums = `
  with booked_sums as (
    select item, journal, sum(amount) filter (where account = 'treasury') as treasury,
      sum(amount) filter (where account in ('provider_id', 'provider_my')) as provider
    from booked where account in ('treasury', 'provider_id', 'provider_my') group by item, journal
  ), chain_sums as (
    select item, sum(signed) as amount from moves group by item
  ), list_sums as (
    select item, asset, sum(signed) as amount from money group by item, asset
  ), other_refunds as (
    select m.item, sum(r.refunded_minor) as amount from money m
    join payments.refunds r on r.id = m.refund_id and r.status = 'succeeded'
    join payments.payments p on p.id = m.item and p.provider_payment_id <> r.provider_payment_id
    where m.type <> 'payment' group by m.item
  )`

/**
 * Chain or provider was read after the row was changed. A row from the future was changed before its clock was set right;
 * if that is not read yet, the grace period covers it.
 */
const isKnown = (readAt: string | null) =>
  readAt === null ? 'false' : `(c.updated_at <= ${moment(readAt)} or c.updated_at > now() + interval '10 seconds')`

const figures = ({ chainReadAt, providerReadAt }: BookSpan) => `
  create temporary table figures on commit drop as ${sums}
    select c.item, c.what, 'AUSD'::text as asset, 'treasury'::text as place, -c.on_chain as by_row,
      -c.or_on_chain as or_row, coalesce(j.treasury, 0) as by_journal,
      coalesce(o.amount, 0) as by_outside, ${isKnown(chainReadAt)} as known
    from payment_claims c
    left join booked_sums j on j.item = c.item and j.journal = 'payments'
    left join chain_sums o on o.item = c.item
    union all
    select c.item, c.what, 'AUSD', 'treasury', c.on_chain, c.or_on_chain, coalesce(j.treasury, 0),
      coalesce(o.amount, 0), ${isKnown(chainReadAt)}
    from payout_claims c
    left join booked_sums j on j.item = c.item and j.journal = 'payouts'
    left join chain_sums o on o.item = c.item
    union all
    select c.item, c.what, c.currency, c.provider_account, c.fiat - greatest(coalesce(r.amount, 0) - c.second_refunded, 0),
      null,
      coalesce(j.provider, 0) - greatest(coalesce(r.amount, 0) - c.second_refunded, 0), coalesce(o.amount, 0),
      ${isKnown(providerReadAt)}
    from payment_claims c
    left join booked_sums j on j.item = c.item and j.journal = 'payments'
    left join list_sums o on o.item = c.item and o.asset = c.currency
    left join other_refunds r on r.item = c.item
    union all
    select c.item, c.what, 'IDR', 'provider_id', c.fiat, c.or_fiat, coalesce(j.provider, 0),
      coalesce(o.amount, 0), ${isKnown(providerReadAt)}
    from payout_claims c
    left join booked_sums j on j.item = c.item and j.journal = 'payouts'
    left join list_sums o on o.item = c.item and o.asset = 'IDR'
    union all
    select item, 'no row of ours', 'AUSD', 'treasury', 0, null, sum(journal), sum(chain), true
    from (
      select item, 0::numeric as journal, signed as chain from moves
      union all select item, amount, 0 from booked
        where account = 'treasury' and journal in ('books', 'chain_relayer')
    ) other
    where not exists (select from payment_claims c where c.item = other.item)
      and not exists (select from payout_claims c where c.item = other.item)
    group by item;
  create index on figures (item);
  analyze figures;`

/** Journal lines that the rows imply. Held and final credits are separate lines. */
const rowLines = `
  create temporary table row_lines on commit drop as
    select item, journal, account, asset, sum(amount) as amount from (
      select item, what, 'payments'::text as journal, account, asset, amount from payment_claims c
      cross join lateral (values
        (provider_account, currency, fiat),
        (case state when 'accepted' then 'capital' else 'suspense' end, currency,
          exchanged_minor - fiat),
        ('fees_earned', currency, -fee_earned),
        ('promises', 'AUSD', -promised),
        ('treasury', 'AUSD', -given),
        ('credit_line', 'AUSD', given),
        (case when may_be_taken then 'in hold' else 'out of hold' end, 'AUSD', -given),
        ('clawback', 'AUSD',
          beyond + case when exchanged then given + promised - worth - written_off_micro else 0 end),
        ('waived', 'AUSD', case when exchanged then written_off_micro else 0 end)
      ) as line (account, asset, amount) where amount <> 0
      union all
      select item, what, 'payouts', account, asset, amount from payout_claims c
      cross join lateral (values
        ('treasury', 'AUSD', on_chain),
        ('provider_id', 'IDR', fiat),
        ('payouts', 'IDR', case when state in ('taken', 'paying') then -fiat_minor else 0 end),
        ('fees_earned', 'IDR', case when state in ('taken', 'paying', 'paid') then -fee_minor else 0 end),
        ('returns', 'AUSD', case when state = 'returning' then -ausd_micro else 0 end)
      ) as line (account, asset, amount)
      union all
      select item, 'reversal', 'payments', account, 'AUSD', amount from (
        select t.item, r.given_back_micro as given_back, greatest(r.made_good_micro - r.lost_micro, 0) as owed_back,
          case when r.cleared_at is null then 0 else greatest(r.lost_micro - r.made_good_micro, 0) end as waived
        from touched t join payments.reversals r on r.payment_id || '/reversal' = t.item
      ) reversal cross join lateral (values
        ('waived', waived), ('owed_back', -owed_back), ('capital', -given_back),
        ('clawback', owed_back + given_back - waived)
      ) as line (account, amount)
    ) lines
    group by item, journal, account, asset having sum(amount) <> 0;
  create index on row_lines (item);
  analyze row_lines;`

export const figureTables = (span: BookSpan): string[] => [paymentClaims, payoutClaims, figures(span), rowLines]
