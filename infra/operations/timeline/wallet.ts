import type { Sql } from 'postgres'
import { isOwed } from '#infra/operations/predicates'
import { factsOf, sentence } from '#infra/operations/text'
import type { TimelineEntry, TimelinePart, TracedItem } from '#infra/operations/timeline/entry'
import { findItems } from '#infra/operations/timeline/items'
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
        [state === 'verified' ? 'verified on the chain' : 'withdrawn on the chain']: settledAt?.toISOString(),
        owed: lost && moneyText(lost, 'AUSD'),
      }),
    },
  ]
}

const itemsOf = async (sql: Sql, wallet: string): Promise<TracedItem[]> =>
  (await findItems({ sql }, { wallet }, itemsMax)).items.map(
    ({ kind, id, state, reason, createdAt, currency, fiat, ausd }) => ({
      kind,
      id,
      wallet,
      state,
      reason,
      createdAt,
      facts: factsOf({
        of: fiat && currency ? moneyText(fiat, currency) : undefined,
        ausd: moneyText(ausd, 'AUSD'),
      }),
    }),
  )

async function entriesOf(sql: Sql, wallet: string): Promise<TimelineEntry[]> {
  const rows = await sql<{ id: string; kind: string; cause: string; state: string; reason: string | null; at: Date }[]>`
    select id, kind, cause, state, reason, updated_at as at from chain_relayer.operation
    where wallet = ${wallet} and kind in ('verify', 'drip', 'freeze', 'giveback', 'autorepay')
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
