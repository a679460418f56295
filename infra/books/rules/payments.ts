import { chainGraceMs, listGraceMs, type Rule, sureMs } from './rule'

/** What is under each ref of a payment: a settlement repays, and what exceeds the debt is credited. */
const effects = `(
  select item, part,
    greatest(count(*) filter (where kind = 'credit'), count(*) filter (where kind = 'repay')) as gives,
    count(distinct tx_hash) filter (where kind = 'revoke') as revokes,
    coalesce(sum(ausd_micro) filter (where kind in ('credit', 'repay')), 0) as given,
    coalesce(sum(ausd_micro) filter (where kind = 'revoke'), 0) as revoked
  from moves where named = 'ref' group by item, part)`

/** A payment on the chain: under its refs, once, in full, and for the one who paid. */
export const paymentRules: readonly Rule[] = [
  {
    name: 'payment_effect',
    says: 'money that came in has one order and one effect on the chain, of the same amount',
    invariant: 3,
    graceMs: chainGraceMs,
    after: 'chain',
    remedy: 'compare the order in chain_relayer.operation with its transaction',
    sql: () => `
      select c.item, 'AUSD' as asset, coalesce(e.given, 0) - c.live_micro as amount,
        format('%s: %s owed, %s orders of %s in all, %s effects of %s in all', c.what, c.live_micro,
          o.orders, o.ordered, coalesce(e.gives, 0), coalesce(e.given, 0)) as about
      from payment_claims c
      left join ${effects} e on e.item = c.item and e.part = c.part
      cross join lateral (
        select count(*) as orders, coalesce(sum((o.payload ->> 'ausd')::numeric), 0) as ordered
        from chain_relayer.operation o where o.kind in ('credit', 'repay') and o.state = 'settled'
          and o.cause = case c.part when 0 then c.item else c.item || '.' || c.part end) o
      where c.state in ('held', 'credited', 'repaid') and c.live_micro > 0
        and exists (select from figures f where f.item = c.item and f.place = 'treasury' and f.known)
        and (o.orders <> 1 or coalesce(e.gives, 0) <> 1 or o.ordered <> c.live_micro
          or e.given <> c.live_micro)`,
  },
  {
    name: 'effect_twice',
    says: 'nothing is credited, repaid or revoked twice under one ref, and earlier parts are undone',
    invariant: 3,
    graceMs: chainGraceMs,
    remedy: 'the contract refuses a ref twice: compare the deployment with the configuration',
    sql: () => `
      select c.item, 'AUSD' as asset, e.given - e.revoked as amount,
        format('%s, part %s: %s effects of %s, %s revocations of %s', c.what, e.part, e.gives, e.given,
          e.revokes, e.revoked) as about
      from payment_claims c join ${effects} e on e.item = c.item
      where e.gives > 1 or e.revokes > 1
        or (e.part < c.part and (e.gives <> 1 or e.revokes <> 1 or e.given <> e.revoked))`,
  },
  {
    name: 'effect_fits',
    says: 'what is under a ref is of the wallet of its payment, and held as its row says',
    invariant: 4,
    graceMs: chainGraceMs,
    remedy:
      'if the row was changed by hand, put it back; else a key of a lane signs for somebody else',
    sql: () => `
      select c.item, 'AUSD' as asset, sum(m.ausd_micro) as amount,
        string_agg(format('%s: the row is of %s, held %s; the chain has a %s for %s, held %s, in %s',
          c.what, c.wallet, coalesce(c.held::text, 'unknown'), m.kind, m.wallet, m.held, m.tx_hash),
          '; ') as about
      from payment_claims c join moves m on m.item = c.item and m.named = 'ref'
      where m.wallet <> c.wallet
        or (m.kind <> 'revoke' and m.held is distinct from coalesce(c.held, true))
        or (m.kind = 'repay' and c.kind = 'topup')
      group by c.item`,
  },
  {
    name: 'ref_unknown',
    says: 'everything under a ref belongs to a payment of ours',
    invariant: 4,
    graceMs: sureMs,
    remedy: 'stop the relayer: a key of a lane is in other hands. Runbook, "a lane key is stolen"',
    sql: () => `
      select item, 'AUSD' as asset, ausd_micro as amount,
        format('a %s%s of %s for %s in %s under ref %s belongs to no payment',
          case when held then 'held ' else '' end, kind, ausd_micro, wallet, tx_hash, key) as about
      from moves where kind in ('credit', 'repay', 'revoke')
        and (named is null or not exists (
          select from payments.payments p where p.id = moves.item))`,
  },
  {
    name: 'payment_provider',
    says: 'the provider has of a payment what its row says: paid, paid twice, given back',
    invariant: 3,
    graceMs: listGraceMs,
    after: 'provider',
    remedy:
      'the services read the list again by themselves; if that does not help, see the dashboard',
    sql: () => `
      select c.item, f.asset, f.by_outside - f.by_row as amount,
        format('%s: the row says %s, the journal %s, the provider %s', f.what, f.by_row,
          f.by_journal, f.by_outside) as about
      from figures f join payment_claims c on c.item = f.item
      where f.place like 'provider%' and f.known and f.by_outside <> f.by_row
      union all
      select c.item, m.asset, sum(m.signed), format('%s is in %s, the provider has %s %s', c.what,
        c.currency, sum(m.signed), m.asset)
      from money m join payment_claims c on c.item = m.item and c.currency <> m.asset
      group by c.item, c.what, c.currency, m.asset having coalesce(sum(m.signed), 1) <> 0`,
  },
  {
    name: 'payment_chain',
    says: 'the chain has of an item what its row says',
    invariant: 4,
    graceMs: chainGraceMs,
    after: 'chain',
    remedy: 'if the row was changed by hand, put it back; else see what the relayer says of it',
    sql: () => `
      select item, asset, by_outside - by_row as amount,
        format('%s: of the treasury the row says %s%s, the journal %s, the chain %s', what, by_row,
          ' or ' || or_row, by_journal, by_outside) as about
      from figures f
      where place = 'treasury' and known and by_outside <> by_row
        and by_outside is distinct from or_row
        and exists (select from payment_claims c where c.item = f.item)`,
  },
]
