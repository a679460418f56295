import type { Sql } from 'postgres'
import { counted, factsOf, sentence } from '#infra/operations/text'
import type { TimelineEntry, TimelinePart, TracedItem } from '#infra/operations/timeline/entry'
import { moneyText } from '#shared/money/text'

/** Number of transactions that are shown, the newest. */
const shownMax = 20

type Row = {
  nextNonce: number
  fault: string | null
  holder: string | null
  createdAt: Date
  coin: string | null
  coinReadAt: Date | null
}

export async function readLane(sql: Sql, [address]: readonly string[]): Promise<TimelinePart> {
  if (!address) return {}
  const [lane] = await sql<Row[]>`
    select next_nonce as "nextNonce", fault, holder, l.created_at as "createdAt",
      b.amount::text as coin, b.read_at as "coinReadAt"
    from chain_relayer.lane l left join books.balances b
      on b.place = 'lane:' || l.address and b.asset = 'MON'
    where l.address = ${address}`
  if (!lane) return {}
  return { items: [itemOf(address, lane)], entries: await transactionsOf(sql, address) }
}

const itemOf = (address: string, lane: Row): TracedItem => ({
  kind: 'lane',
  id: address,
  wallet: address,
  createdAt: lane.createdAt,
  state: lane.fault ? 'blocked' : 'sends',
  reason: lane.fault,
  facts: factsOf({
    'next nonce': lane.nextNonce,
    holder: lane.holder,
    coin: lane.coin && moneyText(lane.coin, 'MON'),
    'coin read': lane.coinReadAt?.toISOString(),
  }),
})

async function transactionsOf(sql: Sql, lane: string): Promise<TimelineEntry[]> {
  const rows = await sql<
    {
      nonce: number
      purpose: string
      carries: number
      outcome: string | null
      txHash: string | null
      updatedAt: Date
    }[]
  >`
    select nonce, purpose, jsonb_array_length(operation_ids) as carries, outcome,
      tx_hash as "txHash", updated_at as "updatedAt"
    from chain_relayer.transaction where lane = ${lane} order by nonce desc limit ${shownMax}`
  return rows.map(({ nonce, purpose, carries, outcome, txHash, updatedAt }) => ({
    at: updatedAt,
    where: 'chain-relayer',
    what: 'lane',
    id: txHash ?? `${lane}:${nonce}`,
    says: sentence(`nonce ${nonce}`, purpose, carries > 0 && counted(carries, 'order'), outcome ?? 'not yet final'),
    isOdd: outcome !== null && outcome !== 'ok',
  }))
}
