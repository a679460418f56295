import { pgSchema } from 'drizzle-orm/pg-core'
import { drizzle } from 'drizzle-orm/postgres-js'
import type { Sql } from 'postgres'
import { type DatabaseRole, databaseRoles } from '#infra/migrations/databases'
import { perform } from '#infra/operations/audit-log/perform'
import { performHere } from '#infra/operations/audit-log/perform-here'
import type { CommandReply } from '#infra/operations/audit-log/signed-outcome'
import { changing } from '#infra/operations/cli/command'
import { operatorDatabaseUrl, withDatabase } from '#infra/operations/cli/connection'
import { PostingCorrect } from '#infra/operations/cli/local-commands'
import { journalTable, NotReversible, reverse } from '#shared/ledger/journal.store'
import type { Worth } from '#shared/messages/operator-commands'

async function schemaOf(sql: Sql, posting: string): Promise<DatabaseRole | undefined> {
  const schemas = await sql<{ name: DatabaseRole }[]>`
    select table_schema as name from information_schema.columns
    where table_name = 'journal' and column_name = 'booked_at'
      and table_schema in ${sql([...databaseRoles])}`
  for (const { name } of schemas) {
    const found = await sql`select 1 from ${sql(name)}.journal where posting = ${posting} limit 1`
    if (found.length > 0) return name
  }
  return undefined
}

/**
 * Reverses a posting. Within seconds the owning service books the item again from its row, so after correcting a row by
 * hand, reverse the newest posting of its item.
 */
export async function correct(sql: Sql, posting: string, reason: string): Promise<string> {
  const schema = await schemaOf(sql, posting)
  if (!schema) throw new NotReversible(`no journal has the posting ${posting}; nothing was changed`)
  const journal = journalTable(pgSchema(schema))
  const made = await drizzle(sql).transaction((tx) => reverse(tx, journal, { posting, reason }))
  return `${posting} of ${made!.item} reversed by ${made!.posting}`
}

/** Counts the AUSD that a posting moves. The sum of one in another currency is unknown. */
export async function worthOf(sql: Sql, posting: string): Promise<Worth | undefined> {
  const schema = await schemaOf(sql, posting)
  if (!schema) return undefined
  const [found] = await sql<{ micro: string; isOther: boolean }[]>`
    select coalesce(sum(amount) filter (where asset = 'AUSD' and amount > 0), 0)::text as micro,
      bool_or(asset <> 'AUSD') as "isOther"
    from ${sql(schema)}.journal where posting = ${posting}`
  return { micro: found!.isOther ? null : BigInt(found!.micro), to: '', seen: '' }
}

/** Command that runs as the owner of all tables, because the journals belong to the services. */
export const correctPosting = changing({
  does: 'reverse a posting',
  usage: 'correct <posting> --reason <why> [--by <who>]',
  takes: 1,
  change: async ({ words: [posting = ''], reason, by }, operator) => {
    const command = { verb: 'correct', target: posting, cause: 'it was wrong', reason, by }
    const work = () => outcomeOf(operatorDatabaseUrl(), posting, reason)
    const worth = () => worthOf(operator.sql, posting)
    return [
      await perform(operator, command, (id) =>
        performHere(operator, PostingCorrect, { command: id, by, reason, posting }, { work, worth }),
      ),
    ]
  },
})

/** Reverses a posting and returns the reply. Throws if the connection is lost: the reversal may be committed. */
export async function outcomeOf(url: string, posting: string, reason: string): Promise<CommandReply> {
  try {
    const work = (sql: Sql) => correct(sql, posting, reason)
    return { done: await withDatabase(url, work) }
  } catch (error) {
    if (!(error instanceof NotReversible)) throw error
    return { refused: error.message }
  }
}
