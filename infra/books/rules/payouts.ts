import { chainGraceMs, listGraceMs, type Rule } from './rule'

/** Words of the provider's list with which a transfer may still reach the bank, or has. */
const alive = "('pending', 'succeeded', 'unknown')"

/** A cash-out: taken once, paid once at most, and given back when it was not paid. */
export const payoutRules: readonly Rule[] = [
  {
    name: 'payout_once',
    says: 'a cash-out has one payout at the provider at most that may reach the bank',
    invariant: 5,
    graceMs: listGraceMs,
    remedy: 'cancel one at the dashboard while it is pending; else ask the provider for it back',
    sql: () => `
      select c.item, 'IDR' as asset, sum(m.amount) as amount,
        format('%s of %s: the provider has %s payouts: %s', c.what, c.fiat_minor, count(*),
          string_agg(m.product_id || ' ' || m.status, ', ')) as about
      from payout_claims c join money m on m.item = c.item and m.type = 'payout'
      where m.status in ${alive} group by c.item, c.what, c.fiat_minor having count(*) > 1`,
  },
  {
    name: 'payout_ordered',
    says: 'the provider pays nothing that is not ordered, and nothing but the amount of its row',
    invariant: 5,
    graceMs: listGraceMs,
    remedy: 'cancel it at the dashboard, renew the key of the provider, and find who used it',
    sql: () => `
      select c.item, m.asset, m.amount - c.fiat_minor as amount,
        format('%s of %s: the provider has %s of %s, %s', c.what, c.fiat_minor, m.product_id,
          m.amount, m.status) as about
      from payout_claims c join money m on m.item = c.item and m.type = 'payout'
      where m.status in ${alive} and (m.amount is distinct from c.fiat_minor or m.asset <> 'IDR'
        or c.state in ('taking', 'taken', 'failed'))`,
  },
  {
    name: 'payout_provider',
    says: 'the provider has paid of a cash-out what its row says',
    invariant: 5,
    graceMs: listGraceMs,
    after: 'provider',
    remedy: 'if the row was changed by hand, put it back; else see the payout at the dashboard',
    sql: () => `
      select item, asset, by_outside - by_row as amount,
        format('%s: the row says %s%s, the journal %s, the provider %s', what, by_row,
          ' or ' || or_row, by_journal, by_outside) as about
      from figures f
      where place = 'provider_id' and known and by_outside <> by_row
        and by_outside is distinct from or_row
        and exists (select from payout_claims c where c.item = f.item)`,
  },
  {
    name: 'provider_unknown',
    says: 'every row of the provider is of an item of ours, and in words we know',
    invariant: 5,
    graceMs: listGraceMs,
    remedy: 'see it at the dashboard; `unexplained accept` it if you moved it, else give it back',
    sql: () => `
      select transaction_id as item, coalesce(currency, '-') as asset,
        coalesce(amount_minor, 0) as amount,
        format('the provider has a %s of %s, money %s, under %s, %s, that is nothing of ours',
          replace(type, 'unknown', 'movement'),
          coalesce(amount_minor::text, 'an unclear sum'), coalesce(cashflow, 'in or out'),
          coalesce(reference, 'no reference'), status) as about
      from stray_money s where status in ('pending', 'succeeded', 'unknown')
        and not exists (select from lines l where l.account in ('capital', 'suspense')
          and l.item in (s.transaction_id, s.product_id))
      union all
      select item, asset, coalesce(amount, 0), format('%s of %s: the provider says %s', transaction_id,
        coalesce(amount::text, 'an unclear sum'), status)
      from money m where (status = 'unknown' or type = 'unknown'
          or (amount is null and status in ('pending', 'succeeded')))
        and (exists (select from payment_claims c where c.item = m.item)
          or exists (select from payout_claims c where c.item = m.item))`,
  },
  {
    name: 'payout_chain',
    says: 'AUSD of a cash-out is taken and given back as its row says, once, and from and to its wallet',
    invariant: 5,
    graceMs: chainGraceMs,
    after: 'chain',
    remedy: 'if the row was changed by hand, put it back; else see what the relayer says of it',
    sql: () => `
      select f.item, f.asset, f.by_outside - f.by_row as amount,
        format('%s of %s: of the treasury the row says %s%s, the journal %s, the chain %s, in %s takes and %s returns, %s of them not as signed',
          f.what, c.ausd_micro, f.by_row, ' or ' || f.or_row, f.by_journal, f.by_outside, m.takes,
          m.returns, m.wrong) as about
      from figures f join payout_claims c on c.item = f.item
      cross join lateral (
        select count(*) filter (where named = 'take') as takes,
          count(*) filter (where named = 'return') as returns,
          count(*) filter (where named = 'take' and (wallet <> c.authorizer or key <> c.take_key or kind <> 'in'
            or ausd_micro <> c.ausd_micro) or named = 'return' and (wallet <> c.wallet
            or kind <> 'out' or ausd_micro <> c.ausd_micro)) as wrong
        from moves m where m.item = f.item) m
      where f.place = 'treasury' and f.known and (
        (f.by_outside <> f.by_row and f.by_outside is distinct from f.or_row)
        or m.takes > 1 or m.returns > 1 or m.wrong > 0
        or (c.state = 'returned' and (m.takes <> 1 or m.returns <> 1)))`,
  },
]
