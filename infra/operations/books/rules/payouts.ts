import { type BookRule, chainGraceMs, listGraceMs } from './rule'

/** Statuses of a transfer that has reached the bank or still may. */
const alive = "('pending', 'succeeded', 'unknown')"

export const payoutRules: readonly BookRule[] = [
  {
    name: 'payout_once',
    says: 'a cash-out has at most one payout that may reach the bank',
    graceMs: listGraceMs,
    remedy: 'cancel one in the dashboard; if it is not pending, ask the provider to return it',
    sql: () => `
      select c.item, 'IDR' as asset, sum(m.amount) as amount,
        format('%s of %s: the provider has %s payouts: %s', c.what, c.fiat_minor, count(*),
          string_agg(m.product_id || ' ' || m.status, ', ')) as about
      from payout_claims c join money m on m.item = c.item and m.type = 'payout'
      where m.status in ${alive} group by c.item, c.what, c.fiat_minor having count(*) > 1`,
  },
  {
    name: 'payout_ordered',
    says: 'the provider pays only ordered payouts, in the amount of the row',
    graceMs: listGraceMs,
    remedy: 'cancel it in the dashboard, and rotate the provider key',
    sql: () => `
      select c.item, m.asset, m.amount - c.fiat_minor as amount,
        format('%s of %s: the provider has %s of %s, %s', c.what, c.fiat_minor, m.product_id,
          m.amount, m.status) as about
      from payout_claims c join money m on m.item = c.item and m.type = 'payout'
      where m.status in ${alive} and (m.amount is distinct from c.fiat_minor or m.asset <> 'IDR'
        or c.state in ('opening', 'expired', 'taking', 'taken', 'failed'))`,
  },
  {
    name: 'payout_provider',
    says: 'the provider has paid the amount in the row of a cash-out',
    graceMs: listGraceMs,
    after: 'provider',
    remedy: 'restore a row changed by hand; otherwise check the payout in the dashboard',
    sql: () => `
      select item, asset, by_outside - by_row as amount,
        format('%s: row %s%s, journal %s, provider %s', what, by_row,
          ' or ' || or_row, by_journal, by_outside) as about
      from figures f
      where place = 'provider_id' and known and by_outside <> by_row
        and by_outside is distinct from or_row
        and exists (select from payout_claims c where c.item = f.item)`,
  },
  {
    name: 'provider_unknown',
    says: 'every provider transaction belongs to a payment or cash-out and has a known status',
    graceMs: listGraceMs,
    remedy: 'if you moved it, run `unexplained accept`; otherwise return it',
    command: ({ form, word }) => (form ? undefined : `unexplained accept ${word} --reason <why>`),
    sql: () => `
      select transaction_id as item, coalesce(currency, '-') as asset,
        coalesce(amount_minor, 0) as amount,
        format('the provider has a %s of %s, money %s, under %s, %s, which matches no item',
          replace(type, 'unknown', 'movement'),
          coalesce(amount_minor::text, 'unknown amount'), coalesce(cashflow, 'in or out'),
          coalesce(reference, 'no reference'), status) as about
      from stray_money s where status in ('pending', 'succeeded', 'unknown')
        and not exists (select from lines l where l.account in ('capital', 'suspense')
          and l.item in (s.transaction_id, s.product_id))
      union all
      select item, asset, coalesce(amount, 0), format('%s of %s: provider status %s', transaction_id,
        coalesce(amount::text, 'unknown amount'), status)
      from money m where (status = 'unknown' or (type = 'unknown'
          and not exists (select from payments.refunds r where r.id = 'chargeback:' || m.transaction_id))
          or (amount is null and status in ('pending', 'succeeded')))
        and (exists (select from payment_claims c where c.item = m.item)
          or exists (select from payout_claims c where c.item = m.item))
      union all
      select m.item, m.asset, w.amount_minor - s.minor, format('%s of %s: payments are recorded with %s of it',
        m.transaction_id, coalesce(w.amount_minor::text, 'unknown amount'), s.minor)
      from money m
      join books.provider_moves w on w.account = m.account and w.transaction_id = m.transaction_id
      cross join lateral (select coalesce(sum(r.refunded_minor), 0) as minor from payments.refunds r
        where r.origin = 'chargeback' and r.status = 'succeeded'
          and split_part(r.id, ':', 2) = m.transaction_id) s
      where m.type = 'unknown' and m.refund_id like 'chargeback:%' and w.status = 'succeeded'
        and w.amount_minor is distinct from s.minor`,
  },
  {
    name: 'payout_chain',
    says: 'AUSD of a cash-out is taken and returned as in its row, once, from and to its wallet',
    graceMs: chainGraceMs,
    after: 'chain',
    remedy: 'restore a row changed by hand, or check its operations in the relayer',
    sql: () => `
      select f.item, f.asset, f.by_outside - f.by_row as amount,
        format('%s of %s, treasury: row %s%s, journal %s, chain %s, in %s takes and %s returns, %s of them not as signed',
          f.what, c.ausd_micro, f.by_row, ' or ' || f.or_row, f.by_journal, f.by_outside, m.takes,
          m.returns, m.wrong) as about
      from figures f join payout_claims c on c.item = f.item
      cross join lateral (
        select count(*) filter (where named = 'take') as takes,
          count(*) filter (where named = 'return') as returns,
          count(*) filter (where named = 'take' and (wallet <> c.authorizer or key <> c.take_key
            or kind <> 'in') or named = 'return' and (wallet <> c.wallet
            or kind <> 'out' or ausd_micro <> c.ausd_micro)) as wrong
        from moves m where m.item = f.item) m
      where f.place = 'treasury' and f.known and (
        (f.by_outside <> f.by_row and f.by_outside is distinct from f.or_row)
        or m.takes > 1 or m.returns > 1 or m.wrong > 0
        or (c.state = 'returned' and (m.takes <> 1 or m.returns <> 1)))`,
  },
]
