import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Tx } from '#shared/db/open'
import { providerMoves } from '../schema.store'

export type ProviderMove = typeof providerMoves.$inferSelect
export type NewProviderMove = typeof providerMoves.$inferInsert

const { account, transactionId, ...changing } = getTableColumns(providerMoves)
const asRead = Object.fromEntries(
  Object.entries(changing).map(([name, { name: column }]) => [name, sql.raw(`excluded.${column}`)]),
) as Record<keyof typeof changing, SQL>

const saysOther = sql.raw(
  Object.values(changing)
    .filter(({ name }) => name !== 'read_at')
    .map(({ name }) => `provider_moves.${name} is distinct from excluded.${name}`)
    .join(' or '),
)

/**
 * Notes rows as the list has them now, and answers those of which it says something new: `read_at`
 * is when it first said what it says. Of two copies the one whose row changed later is right. At most
 * 1,000 at once, none of them twice.
 */
export async function noteMoves(tx: Tx, rows: readonly NewProviderMove[]): Promise<ProviderMove[]> {
  if (rows.length === 0) return []
  return tx
    .insert(providerMoves)
    .values([...rows])
    .onConflictDoUpdate({
      target: [providerMoves.account, providerMoves.transactionId],
      set: asRead,
      setWhere: sql`(${saysOther}) and (${providerMoves.changedAt} is null
        or excluded.changed_at is null or ${providerMoves.changedAt} <= excluded.changed_at)`,
    })
    .returning()
}
