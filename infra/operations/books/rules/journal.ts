import { accountNames, chart, type Side } from '#shared/ledger/chart'
import { moment } from '../span'
import { accountHasBegun, atOnceMs, type BookRule, listGraceMs, returningOf, returnOf, wentBack } from './rule'

/**
 * Condition that an account is on one of these sides. `exchange` and the income accounts may be on both sides of 0. So
 * may `suspense`, whose items are checked one by one, and `capital`: user payments are withdrawn at the provider, and
 * AUSD is added in return.
 */
const onSides = (...sides: Side[]) =>
  `(${accountNames
    .filter((name) => sides.includes(chart[name].side) && name !== 'suspense' && name !== 'capital')
    .map((name) => `'${name}'`)
    .join(', ')})`
const above = onSides('owned', 'spent')
const below = onSides('owed')

const hasBegun = (account: string, asset: string) => `case
  when ${account} in ('treasury', 'lanes') then exists (
    select from standing c where c.account = 'capital' and c.asset = ${asset})
  when ${account} in ('provider_id', 'provider_my') then ${accountHasBegun(account)}
  else true end`

/** Forms of our ids. Other items of these journals come from the provider and have no row. */
const isPayment = "'^pay_[A-Za-z0-9_-]{22}$'"
const isCashout = "'^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'"

export const journalRules: readonly BookRule[] = [
  {
    name: 'posting_balances',
    says: 'every posting sums to 0 in each asset',
    graceMs: atOnceMs,
    remedy: 'find the write that bypassed the triggers, and reverse it',
    sql: ({ since }) => `
      select min(item) as item, asset, sum(amount) as amount,
        format('posting %s of %s sums to %s', posting, journal, sum(amount)) as about
      from (
        select * from lines where booked_at >= ${moment(since)}
        union all select l.* from lines l where booked_at < ${moment(since)}
          and item in (select item from books.breaks where closed_at is null)
      ) l
      group by journal, posting, asset having sum(amount) <> 0`,
  },
  {
    name: 'assets_balance',
    says: 'all journals together sum to 0 in each asset',
    graceMs: atOnceMs,
    remedy: '`reconcile --whole` names the posting',
    command: ({ form }) => (form ? undefined : 'reconcile --whole'),
    sql: () => `
      select 'journals' as item, asset, sum(amount) as amount,
        format('all lines together sum to %s', sum(amount)) as about
      from standing where source <> 'chain' group by asset having sum(amount) <> 0`,
  },
  {
    name: 'account_side',
    says: 'no account has a balance on its wrong side',
    graceMs: listGraceMs,
    remedy: 'find the item that overdrew it; add or book capital',
    sql: () => `
      select account as item, asset, sum(amount) as amount,
        format('the balance of %s is %s', account, sum(amount)) as about
      from standing s where source <> 'chain'
        and ${hasBegun('account', 's.asset')}
      group by account, asset
      having (account in ${above} and sum(amount) < 0) or (account in ${below} and sum(amount) > 0)`,
  },
  {
    name: 'row_journal',
    says: 'the journal of an item matches its row, account by account',
    graceMs: atOnceMs,
    remedy: 'restore the row, or reverse the posting',
    sql: () => `
      select item, asset, (array_agg(difference order by abs(difference) desc, difference desc))[1] as amount,
        string_agg(format('%s: row %s, journal %s', account, by_row, by_journal), '; '
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
              and (journal = 'payments' and (item ~ ${isPayment} or item like '%/reversal'
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
    says: 'no money is in suspense unless explained by an operator',
    graceMs: listGraceMs,
    remedy:
      'find its owner and return it; if you have sent it back, or it is yours, run `unexplained accept` for its transaction',
    command: (item) => {
      if (item.form === 'transfer') return returnOf(item)
      return item.form === 'payment' ? `review show ${item.word}` : undefined
    },
    sql: () => `
      select item, asset, sum(amount) as amount,
        format('%s has no known owner', -sum(amount)) || coalesce((
          select ', the provider has it as ' || string_agg(distinct
            concat_ws(' under ', m.transaction_id, m.reference), ', ')
          from books.provider_moves m where m.product_id = booked.item
            or (m.account, m.transaction_id) in (('ID', booked.item), ('MY', booked.item))), '')
          || ${returningOf('booked.item')} as about
      from booked where account = 'suspense' group by item, asset
      having sum(amount) < 0 or sum(amount) > 0 and not ${wentBack('booked.item')}`,
  },
]
