import { accountNames, chart, type Side } from '#shared/ledger/chart'
import { moment } from '../span'
import { accountHasBegun, atOnceMs, listGraceMs, type Rule, wentBack } from './rule'

/**
 * Accounts by the side of 0 that their balance is on; `exchange` and what is earned may be on both. So
 * may money that belongs to nobody, of which each item is named, and capital: what users paid in is
 * taken out at the provider, and AUSD put in for it.
 */
const onSides = (...sides: Side[]) =>
  `(${accountNames
    .filter((name) => sides.includes(chart[name].side) && name !== 'suspense' && name !== 'capital')
    .map((name) => `'${name}'`)
    .join(', ')})`
const above = onSides('owned', 'spent')
const below = onSides('owed')

/** Of where the money is, what it began with must be booked before a balance means anything. */
const hasBegun = (account: string, asset: string) => `case
  when ${account} in ('treasury', 'lanes') then exists (
    select from standing c where c.account = 'capital' and c.asset = ${asset})
  when ${account} in ('provider_id', 'provider_my') then ${accountHasBegun(account)}
  else true end`

/** Ids of rows: other items of these journals are of the provider, and no row stands for them. */
const isPayment = "'^pay_[A-Za-z0-9_-]{22}$'"
const isCashout = "'^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'"

/** What the journals say among themselves, and beside the rows they were written with. */
export const journalRules: readonly Rule[] = [
  {
    name: 'posting_balances',
    says: 'every posting comes to 0 in each asset',
    invariant: 1,
    graceMs: atOnceMs,
    remedy: 'find who wrote it without the triggers, and reverse it',
    sql: ({ since }) => `
      select min(item) as item, asset, sum(amount) as amount,
        format('posting %s of %s comes to %s', posting, journal, sum(amount)) as about
      from (
        select * from lines where booked_at >= ${moment(since)}
        union all select l.* from lines l where booked_at < ${moment(since)}
          and item in (select item from books.breaks where closed_at is null)
      ) l
      group by journal, posting, asset having sum(amount) <> 0`,
  },
  {
    name: 'assets_balance',
    says: 'all journals together come to 0 in each asset',
    invariant: 1,
    graceMs: atOnceMs,
    remedy: 'reconcile --whole names the posting',
    sql: () => `
      select 'journals' as item, asset, sum(amount) as amount,
        format('all lines together come to %s', sum(amount)) as about
      from standing where source <> 'chain' group by asset having sum(amount) <> 0`,
  },
  {
    name: 'account_side',
    says: 'no account stands on its wrong side',
    invariant: 2,
    graceMs: listGraceMs,
    remedy: 'find the item that took more than there was; put capital in, or book what was put in',
    sql: () => `
      select account as item, asset, sum(amount) as amount,
        format('%s stands at %s', account, sum(amount)) as about
      from standing s where source <> 'chain'
        and ${hasBegun('account', 's.asset')}
      group by account, asset
      having (account in ${above} and sum(amount) < 0) or (account in ${below} and sum(amount) > 0)`,
  },
  {
    name: 'row_journal',
    says: 'the journal of an item says what its row says, account by account',
    invariant: 9,
    graceMs: atOnceMs,
    remedy: 'put the row back, or reverse the posting: one of them was changed by hand',
    sql: () => `
      select item, asset, (array_agg(difference order by abs(difference) desc))[1] as amount,
        string_agg(format('%s: the row says %s, the journal %s', account, by_row, by_journal), '; '
          order by account) as about
      from (
        select coalesce(r.item, b.item) as item, coalesce(r.asset, b.asset) as asset,
          coalesce(r.account, b.account) as account, coalesce(r.amount, 0) as by_row,
          coalesce(b.amount, 0) as by_journal,
          coalesce(b.amount, 0) - coalesce(r.amount, 0) as difference
        from row_lines r full join (
          select item, journal, asset, account, sum(amount) as amount from (
            select item, journal, asset, amount, case
              when account in ('collateral', 'repaid') then 'out of hold'
              when account in ('collateral_held', 'repaid_held') then 'in hold'
              else account end as account
            from booked where account not in ('exchange', 'spread')
              and (journal = 'payments' and (item ~ ${isPayment}
                  or item in (select item from payment_claims))
                or journal = 'payouts' and (item ~ ${isCashout}
                  or item in (select item from payout_claims)))
          ) named group by item, journal, asset, account
        ) b on b.item = r.item and b.journal = r.journal and b.asset = r.asset
          and b.account = r.account
        where coalesce(r.amount, 0) <> coalesce(b.amount, 0)
      ) differing group by item, asset`,
  },
  {
    name: 'suspense',
    says: 'no money is in suspense, unless somebody looks after it until a day',
    invariant: 10,
    graceMs: listGraceMs,
    remedy: 'decide whose it is: give it back, or say with `reconcile explain` who decides by when',
    sql: () => `
      select item, asset, sum(amount) as amount,
        format('%s belongs to nobody yet', -sum(amount)) || coalesce((
          select ', the provider has it under ' || string_agg(distinct m.reference, ', ')
          from books.provider_moves m where m.product_id = booked.item
            or (m.account, m.transaction_id) in (('ID', booked.item), ('MY', booked.item))), '') as about
      from booked where account = 'suspense' group by item, asset
      having sum(amount) < 0 or sum(amount) > 0 and not ${wentBack('booked.item')}`,
  },
]
