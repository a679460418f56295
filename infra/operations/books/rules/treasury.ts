import { signedMicro } from '../schema.store'
import {
  accountHasBegun,
  type BookRule,
  chainGraceMs,
  listGraceMs,
  returningOf,
  returnOf,
  sureMs,
  wentBack,
} from './rule'

const ahead = (place: string) =>
  `coalesce((select sum(by_outside - by_journal) from figures where place = ${place}), 0)`
/** Leaves out payments that are disputed in another currency: only the balance itself shows how much such a dispute took. */
const aheadAtProvider = (place: string) =>
  `coalesce((select sum(by_outside - by_journal) from figures f where f.place = ${place}
    and not exists (select from money d where d.item = f.item and d.asset <> f.asset and d.status = 'succeeded')), 0)`
const standing = (account: string, source = "<> 'chain'") =>
  `coalesce((select sum(amount) from standing where account = ${account} and source ${source}), 0)`

export const treasuryRules: readonly BookRule[] = [
  {
    name: 'treasury_moved',
    says: 'every transfer of AUSD to or from the treasury is booked',
    graceMs: chainGraceMs,
    remedy:
      'return an incoming transfer to its sender, unless it came back for a refund: then `unexplained accept` it first, and `topups refund`; an outgoing one was signed with the treasury key',
    // An outgoing transfer can only be traced or explained.
    command: (item) => (item.form === 'transfer' && item.amount > 0n ? returnOf(item) : undefined),
    sql: () => `
      select f.item, f.asset, f.by_outside - f.by_journal as amount,
        coalesce(string_agg(format('%s of %s, %s, in %s', m.kind, m.ausd_micro, m.wallet, m.tx_hash), '; '),
          'nothing on chain') || format(': booked %s', f.by_journal)
          || ${returningOf('f.item')} as about
      from figures f left join moves m on m.item = f.item
      where f.what = 'no row of ours' and f.by_outside <> f.by_journal
        and not (f.by_outside = 0 and ${wentBack('f.item')})
        and not exists (select from moves r where r.item = f.item
          and r.kind in ('credit', 'repay', 'revoke'))
      group by f.item, f.asset, f.by_outside, f.by_journal`,
  },
  {
    name: 'treasury_balance',
    says: 'the AUSD of the treasury equals the sum of its transfers',
    graceMs: chainGraceMs,
    remedy: 'read the chain again from the deployment block',
    sql: ({ block, readToBlock }) => `
      select 'treasury' as item, b.asset, b.amount - moved as amount,
        format('at block %s it holds %s, its transfers sum to %s', b.block, b.amount, moved) as about
      from books.balances b cross join lateral (
        select coalesce((select sum(amount) from totals_before where source = 'chain'), 0)
          + coalesce((select sum(${signedMicro()})
            from books.chain_moves where block > ${block} and block <= b.block), 0) as moved) m
      where b.place = 'treasury' and b.block >= ${block} and b.block <= ${readToBlock}
        and b.amount <> moved`,
  },
  {
    name: 'treasury_books',
    says: 'the booked treasury equals the sum of its transfers, except for items in progress',
    graceMs: chainGraceMs,
    remedy: '`reconcile --whole` names the item',
    command: ({ form }) => (form ? undefined : 'reconcile --whole'),
    sql: () => `
      select 'treasury' as item, 'AUSD' as asset, difference as amount,
        format('its transfers sum to %s, the journals to %s, with %s in progress',
          chain, journal, ahead) as about
      from (select ${standing('account', "= 'chain'")} as chain, ${standing("'treasury'")} as journal,
        ${ahead("'treasury'")} as ahead) t
      cross join lateral (select chain - journal - ahead as difference) d where difference <> 0`,
  },
  {
    name: 'credit_line_covered',
    says: 'the credit line holds at least the AUSD that it owes: all collateral, and its pool',
    graceMs: sureMs,
    remedy:
      'the issuer burned AUSD of the contract, or the contract lost it: `ops pause topups`, call `pause()` on the credit line as its admin, and ask the issuer (Agora). Once the cause is known, send the missing AUSD to the credit line; the break then closes',
    sql: () => `
      select 'credit_line' as item, b.asset, b.amount - o.amount as amount,
        format('at block %s it holds %s and owes %s', b.block, b.amount, o.amount) as about
      from books.balances b join books.balances o on o.asset = b.asset and o.block = b.block
      where b.place = 'credit_line' and o.place = 'credit_line_owes' and b.amount < o.amount`,
  },
  {
    name: 'lane_read',
    says: 'every lane has sent only transactions that the relayer has booked',
    graceMs: chainGraceMs,
    remedy: 'its key is used elsewhere (runbook, "lane is blocked"), or the relayer is stuck',
    sql: () => `
      select l.place as item, l.asset, 0::numeric as amount,
        format('the relayer has not booked its transactions after block %s', l.block) as about
      from books.balances l join books.balances t on t.place = 'treasury'
      where l.place like 'lane:%' and l.read_at < t.read_at - interval '10 minutes'`,
  },
  {
    name: 'provider_balance',
    says: 'the balance at the provider equals the booked one, except for items in progress',
    graceMs: listGraceMs,
    remedy: 'check fees, settlements and withdrawals in the dashboard, and book them',
    sql: () => `
      select b.place as item, b.asset, difference as amount,
        format('the provider holds %s, the journal %s, with %s in progress and up to %s more',
          b.amount, journal, ahead, leaving + coming) as about
      from books.balances b
      cross join lateral (select ${standing('b.place')} as journal, ${aheadAtProvider('b.place')} as ahead,
        coalesce((select sum(amount) from money m where 'provider_' || lower(m.account) = b.place
          and m.asset = b.asset and m.signed <= 0 and (status in ('pending', 'unknown')
            or changed_at > b.read_at - interval '5 minutes')), 0) as leaving,
        coalesce((select sum(amount) from money m where 'provider_' || lower(m.account) = b.place
          and m.asset = b.asset and m.signed >= 0 and changed_at > b.read_at - interval '5 minutes'), 0) as coming) s
      cross join lateral (select b.amount - journal - ahead as difference) d
      where b.place like 'provider%' and (difference > coming or difference < -leaving)
        and ${accountHasBegun('b.place')}`,
  },
]
