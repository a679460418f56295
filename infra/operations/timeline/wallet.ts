import type { Sql } from 'postgres'
import { isOwed, operationMicro } from '#infra/operations/predicates'
import { factsOf, sentence } from '#infra/operations/text'
import type { TimelineEntry, TimelinePart, TracedItem } from '#infra/operations/timeline/entry'
import { moneyText } from '#shared/money/text'

/** Number of items per kind that are shown, the newest. */
const itemsMax = 20

export async function readWallet(sql: Sql, wallets: readonly string[]): Promise<TimelinePart> {
  const [wallet] = wallets
  if (!wallet) return {}
  const [items, entries] = await Promise.all([itemsOf(sql, wallet), entriesOf(sql, wallet)])
  return { items: [...(await personOf(sql, wallet)), ...items], entries }
}

async function personOf(sql: Sql, wallet: string): Promise<TracedItem[]> {
  const [found] = await sql<
    {
      createdAt: Date | null
      country: string | null
      state: string | null
      failure: string | null
      settledAt: Date | null
      frozen: boolean | null
      lost: string | null
    }[]
  >`
    select u.created_at as "createdAt", u.country, i.state, i.failure,
      i.flag_settled_at as "settledAt", w.frozen,
      (select sum(lost_micro - made_good_micro)::text from payments.reversals
        where wallet = ${wallet} and ${isOwed(sql)}) as lost
    from (select 1) one
    left join gateway.users u on u.wallet = ${wallet}
    left join gateway.identities i on i.wallet = ${wallet}
    left join payments.wallets w on w.wallet = ${wallet}`
  const { createdAt, country, state, failure, settledAt, frozen, lost } = found!
  if (createdAt === null && state === null && frozen === null) return []
  return [
    {
      kind: 'wallet',
      id: wallet,
      wallet,
      createdAt,
      reason: failure,
      state: sentence(state ?? 'not verified', frozen && 'frozen'),
      facts: factsOf({
        country,
        'verified on the chain': settledAt?.toISOString(),
        owed: lost && moneyText(lost, 'AUSD'),
      }),
    },
  ]
}

type Row = Omit<TracedItem, 'facts'> & {
  fiat: string | null
  currency: string | null
  ausd: string
}

async function itemsOf(sql: Sql, wallet: string): Promise<TracedItem[]> {
  const rows = await sql<Row[]>`
    select * from (
      (select kind, id, wallet, state, reason, created_at as "createdAt", fiat_minor::text as fiat,
        currency, ausd_micro::text as ausd
      from payments.payments where wallet = ${wallet} order by created_at desc limit ${itemsMax})
      union all
      (select 'cashout', id, wallet, state, reason, created_at, fiat_minor::text, 'IDR',
        ausd_micro::text
      from payouts.payouts where wallet = ${wallet} order by created_at desc limit ${itemsMax})
      union all
      (select 'send', cause, wallet, state, reason, created_at, null, null, ${operationMicro(sql)}
      from chain_relayer.operation where wallet = ${wallet} and kind = 'send'
      order by created_at desc limit ${itemsMax})
    ) found order by "createdAt" desc`
  return rows.map(({ fiat, currency, ausd, ...item }) => ({
    ...item,
    facts: factsOf({
      of: fiat && currency ? moneyText(fiat, currency) : undefined,
      ausd: moneyText(ausd, 'AUSD'),
    }),
  }))
}

async function entriesOf(sql: Sql, wallet: string): Promise<TimelineEntry[]> {
  const rows = await sql<{ id: string; kind: string; cause: string; state: string; reason: string | null; at: Date }[]>`
    select id, kind, cause, state, reason, updated_at as at from chain_relayer.operation
    where wallet = ${wallet} and kind in ('verify', 'drip', 'freeze', 'giveback')
    order by created_at desc limit ${itemsMax}`
  return rows.map(({ id, kind, cause, state, reason, at }) => ({
    at,
    where: 'chain-relayer',
    what: 'order',
    id,
    isOdd: state === 'failed',
    says: sentence(`${kind} ${cause}`, state, reason),
  }))
}
