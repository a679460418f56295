import { parseArgs } from 'node:util'
import { pgSchema } from 'drizzle-orm/pg-core'
import { drizzle } from 'drizzle-orm/postgres-js'
import type { Sql } from 'postgres'
import { type DatabaseRole, databaseRoles } from '#infra/migrations/databases'
import { operatorDatabaseUrl, withDatabase } from '#infra/ops/stack'
import type { Verb } from '#infra/ops/verb'
import { journalTable, reverse } from '#shared/ledger/journal.store'

const usage = `usage: bun run ops correct <posting> --reason "why it was wrong"

Takes a posting of a journal back by its exact negation, once. Within seconds the service that owns the
item books it anew, as its row is by then: a row that was corrected by hand is booked by reversing the
newest posting of its item. Postings: select * from payments.journal where item = '…'`

/** The schema whose journal has a posting; undefined when none has. */
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

/** Reverses a posting, and tells what was posted. Throws when it was reversed before. */
export async function correct(sql: Sql, posting: string, reason: string): Promise<string> {
  const schema = await schemaOf(sql, posting)
  if (!schema) throw new Error(`no journal has a posting ${posting}: nothing was changed`)
  const journal = journalTable(pgSchema(schema))
  const made = await drizzle(sql).transaction((tx) => reverse(tx, journal, { posting, reason }))
  return `${posting} of ${made!.item} is reversed by ${made!.posting}`
}

export const correctPosting: Verb = {
  does: 'take a posting back by its exact negation',
  run: async (args, say) => {
    const options = { reason: { type: 'string' } } as const
    const told = { args, options, allowPositionals: true, strict: false } as const
    const { values, positionals } = parseArgs(told)
    const [posting] = positionals
    const reason = typeof values.reason === 'string' ? values.reason.trim() : ''
    if (!posting || positionals.length > 1 || reason === '') {
      say(usage)
      return 2
    }
    say(await withDatabase(operatorDatabaseUrl(), (sql) => correct(sql, posting, reason)))
    return 0
  },
}
