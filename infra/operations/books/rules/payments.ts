import { type BookRule, chainGraceMs, listGraceMs, sureMs } from './rule'

/**
 * Effects that each ref should have had: a settlement repays the debt and credits the excess, and each refund revokes a
 * part.
 */
const effects = `(
  select item, ref_sequence,
    greatest(count(*) filter (where kind = 'credit'), count(*) filter (where kind = 'repay')) as gives,
    coalesce(sum(ausd_micro) filter (where kind in ('credit', 'repay')), 0) as given,
    coalesce(sum(ausd_micro) filter (where kind = 'revoke'), 0) as revoked
  from moves where named = 'ref' group by item, ref_sequence)`

export const paymentRules: readonly BookRule[] = [
  {
    name: 'payment_effect',
    says: 'every received payment has one order, and one effect on chain of its amount less revocations',
    graceMs: chainGraceMs,
    after: 'chain',
    remedy: 'compare its order in chain_relayer.operation with the transaction',
    sql: () => `
      select c.item, 'AUSD' as asset, coalesce(e.given - e.revoked, 0) - c.onchain_micro as amount,
        format('%s: expected %s, %s orders total %s, %s effects total %s less %s revoked', c.what,
          c.onchain_micro, o.orders, o.ordered, coalesce(e.gives, 0), coalesce(e.given, 0),
          coalesce(e.revoked, 0)) as about
      from payment_claims c
      left join ${effects} e on e.item = c.item and e.ref_sequence = c.ref_sequence
      cross join lateral (
        select count(*) as orders, coalesce(sum((o.payload ->> 'ausd')::numeric), 0) as ordered
        from chain_relayer.operation o where o.kind in ('credit', 'repay') and o.state = 'settled'
          and o.cause = case c.ref_sequence when 0 then c.item else c.item || '.' || c.ref_sequence end) o
      where c.state in ('held', 'credited', 'repaid') and c.onchain_micro > 0
        and exists (select from figures f where f.item = c.item and f.place = 'treasury' and f.known)
        and (o.orders <> 1 or coalesce(e.gives, 0) <> 1 or o.ordered <> e.given
          or e.given - e.revoked <> c.onchain_micro)`,
  },
  {
    name: 'effect_twice',
    says: 'no ref takes effect twice or is revoked beyond its amount, and all parts but the last are revoked',
    graceMs: chainGraceMs,
    remedy: 'the contract rejects this: check the addresses in the configuration',
    sql: () => `
      select c.item, 'AUSD' as asset, e.given - e.revoked as amount,
        format('%s, part %s: %s effects of %s, revoked %s', c.what, e.ref_sequence, e.gives, e.given,
          e.revoked) as about
      from payment_claims c join ${effects} e on e.item = c.item
      where e.gives > 1 or e.revoked > e.given
        or (e.ref_sequence < c.ref_sequence and (e.gives <> 1 or e.given <> e.revoked))`,
  },
  {
    name: 'effect_fits',
    says: 'the effects of a ref are for the wallet of its payment, and held as in its row',
    graceMs: chainGraceMs,
    remedy: 'restore a row changed by hand; otherwise a lane key signs for someone else',
    sql: () => `
      select c.item, 'AUSD' as asset, sum(m.ausd_micro) as amount,
        string_agg(format('%s: the row has %s, held %s; the chain has a %s for %s, held %s, in %s',
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
    says: 'every effect under a ref belongs to a payment',
    graceMs: sureMs,
    remedy:
      'if the clock of Postgres was set, run `reconcile --whole` first; ' +
      'after a restore, or the promotion of a standby that lagged, the rows are missing: restore them (runbook, "Restore"); ' +
      'otherwise stop the relayer: a lane key is compromised (runbook, "a lane key is stolen")',
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
    says: 'the provider lists the amounts in the row of a payment',
    graceMs: listGraceMs,
    after: 'provider',
    remedy: 'if the break stays, check the dashboard',
    sql: () => `
      select c.item, f.asset, f.by_outside - f.by_row as amount,
        format('%s: row %s, journal %s, provider %s', f.what, f.by_row,
          f.by_journal, f.by_outside) as about
      from figures f join payment_claims c on c.item = f.item
      where f.place like 'provider%' and f.known and f.by_outside <> f.by_row
      union all
      select c.item, m.asset, coalesce(sum(m.signed), 0),
        format('%s is in %s, the provider has %s %s', c.what, c.currency,
          coalesce(sum(m.signed)::text, 'an unknown amount of'), m.asset)
      from money m join payment_claims c on c.item = m.item and c.currency <> m.asset
      group by c.item, c.what, c.currency, m.asset having coalesce(sum(m.signed), 1) <> 0`,
  },
  {
    name: 'payment_chain',
    says: 'the chain moved the amount in the row of a payment',
    graceMs: chainGraceMs,
    after: 'chain',
    remedy: 'restore a row changed by hand, or check its operations in the relayer',
    sql: () => `
      select item, asset, by_outside - by_row as amount,
        format('%s, treasury: row %s%s, journal %s, chain %s', what, by_row,
          ' or ' || or_row, by_journal, by_outside) as about
      from figures f
      where place = 'treasury' and known and by_outside <> by_row
        and by_outside is distinct from or_row
        and exists (select from payment_claims c where c.item = f.item)`,
  },
]
