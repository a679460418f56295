import type { Sql } from 'postgres'
import { factsOf } from '#infra/operations/text'
import type { Roots, TimelineEntry, TimelinePart } from '#infra/operations/timeline/entry'
import { moneyText } from '#shared/money/text'

const shownMax = 20

async function readTreasury(sql: Sql, address: string, { wallets }: Roots): Promise<TimelinePart> {
  const treasury = address.toLowerCase()
  if (!wallets.includes(treasury)) return {}
  const [held] = await sql<{ amount: string; block: string | null; readAt: Date }[]>`
    select amount::text, block::text, read_at as "readAt" from books.balances
    where place = 'treasury' and asset = 'AUSD'`
  const facts = factsOf({
    holds: held && moneyText(held.amount, 'AUSD'),
    block: held?.block,
    read: held?.readAt.toISOString(),
  })
  const common = { id: treasury, wallet: treasury, reason: null, createdAt: null }
  const state = held ? 'as last read by the books' : 'not read yet'
  return {
    items: [{ kind: 'treasury', ...common, state, facts }],
    entries: await movesOf(sql),
  }
}

async function movesOf(sql: Sql): Promise<TimelineEntry[]> {
  const rows = await sql<{ id: string; kind: string; wallet: string; ausd: string; at: Date; isNamed: boolean }[]>`
    select tx_hash || ':' || log_index as id, m.kind, wallet, ausd_micro::text as ausd,
      moved_at as at, n.key is not null as "isNamed"
    from books.chain_moves m left join books.names n on n.key = m.key
    order by block desc, log_index desc limit ${shownMax}`
  return rows.map(({ id, kind, wallet, ausd, at, isNamed }) => ({
    at,
    where: 'chain',
    what: kind,
    id,
    isOdd: kind === 'in' && !isNamed,
    says: `${moneyText(ausd, 'AUSD')}, ${wallet}`,
  }))
}

export const ofTreasury = (sql: Sql, address: string) => ({
  what: 'the treasury',
  read: (roots: Roots) => readTreasury(sql, address, roots),
})
