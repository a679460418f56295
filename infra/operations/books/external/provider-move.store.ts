import { eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Tx } from '#platform/db/open'
import { providerMoves } from '../schema.store'

export type ProviderMove = typeof providerMoves.$inferSelect
export type NewProviderMove = typeof providerMoves.$inferInsert

const { account, transactionId, unsettledReadAt, settlesAt, settledReadAt, ...changing } =
  getTableColumns(providerMoves)
const asRead = Object.fromEntries(
  Object.entries(changing).map(([name, { name: column }]) => [name, sql.raw(`excluded.${column}`)]),
) as Record<keyof typeof changing, SQL>

/** Keeps the first report of the settlement, and the time at which it was read. */
const asFirstRead = {
  unsettledReadAt: sql`coalesce(${unsettledReadAt}, excluded.unsettled_read_at)`,
  settlesAt: sql`case when ${unsettledReadAt} is null then excluded.settles_at else ${settlesAt} end`,
  settledReadAt: sql`coalesce(${settledReadAt}, excluded.settled_read_at)`,
}

const saysOther = sql.raw(
  [
    ...Object.values(changing)
      .filter(({ name }) => name !== 'read_at')
      .map(({ name }) => `provider_moves.${name} is distinct from excluded.${name}`),
    ...[unsettledReadAt, settledReadAt].map(
      ({ name }) => `provider_moves.${name} is null and excluded.${name} is not null`,
    ),
  ].join(' or '),
)

/**
 * Stores rows of the provider's list, at most 1,000 distinct ones, and returns those that changed. Of the rows that
 * concurrent instances store, the one that changed later wins. `read_at` is the time at which the row's present content
 * was first read.
 */
export async function recordMoves(tx: Tx, rows: readonly NewProviderMove[]): Promise<ProviderMove[]> {
  if (rows.length === 0) return []
  return tx
    .insert(providerMoves)
    .values([...rows])
    .onConflictDoUpdate({
      target: [providerMoves.account, providerMoves.transactionId],
      set: Object.assign({}, asRead, asFirstRead),
      setWhere: sql`(${saysOther}) and (${providerMoves.changedAt} is null
        or excluded.changed_at is null or ${providerMoves.changedAt} <= excluded.changed_at)`,
    })
    .returning()
}

export const findProviderMove = async (tx: Tx, transactionIdOfIt: string): Promise<ProviderMove | undefined> =>
  (await tx.select().from(providerMoves).where(eq(providerMoves.transactionId, transactionIdOfIt)))[0]

/**
 * Returns true if the row names a payment, a cash-out or a refund of ours. A posting alone proves no owner: the services
 * also book unmatched money.
 */
export async function isOfAService(tx: Tx, move: ProviderMove): Promise<boolean> {
  const { transactionId, productId, reference } = move
  const among = listOf([transactionId, productId, reference, `chargeback:${transactionId}`])
  const [found] = await tx.execute<{ of: string }>(sql`
    select id as of from payments.payments where id in (${among}) or provider_payment_id in (${among})
    union all select id from payouts.payouts where id in (${among}) or provider_payout_id in (${among})
    union all select id from payments.refunds where id in (${among})
    limit 1`)
  return found !== undefined
}

/**
 * Returns the items under which services hold the money of rows in suspense, with the amount held in the smallest unit,
 * negative if the money left the account. Only a part of a row may be held, as of a payout above its cash-out.
 */
export async function findHeld(
  tx: Tx,
  moves: readonly Pick<ProviderMove, 'transactionId' | 'productId'>[],
): Promise<{ item: string; minor: bigint }[]> {
  if (moves.length === 0) return []
  const among = listOf(moves.flatMap(({ transactionId, productId }) => [productId, transactionId]))
  const found = await tx.execute<{ item: string; minor: string }>(sql`
    select item, (-sum(amount))::text as minor from (
      select item, account, amount from payments.journal where item in (${among})
      union all select item, account, amount from payouts.journal where item in (${among})
    ) booked where account = 'suspense' group by item having sum(amount) <> 0 order by item`)
  return found.map(({ item, minor }) => ({ item, minor: BigInt(minor) }))
}

const listOf = (ids: readonly (string | null)[]) =>
  sql.join(
    ids.filter((id) => id !== null).map((id) => sql`${id}`),
    sql`, `,
  )
