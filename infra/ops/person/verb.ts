import type { Sql } from 'postgres'
import { holds, personalData } from '#infra/documents/personal-data'
import { databaseRoles } from '#infra/migrations/databases'
import { among, type Found, reading } from '#infra/ops/verb'
import { asObject } from '#shared/schema'

/** Columns that name a wallet, and those that name an item of one. */
const ofWallet = ['wallet', 'authorizer'] as const
const ofItem = ['payment_id', 'payout_id'] as const

type Row = Record<string, unknown>
/** The rows of one table about a person. */
export type Stored = { readonly table: string; readonly rows: readonly Row[] }

/** The sealed box is shown as present: only payouts holds its key. */
const sealed = 'bank_details'

/**
 * Reads every row about a wallet, from every table that names it or one of its payments or cash-outs, so
 * that a new table is included without a change here.
 */
export async function readPerson(sql: Sql, wallet: string): Promise<Stored[]> {
  const columns = await sql<{ table: string; column: string }[]>`
    select table_schema || '.' || table_name as "table", column_name as "column"
    from information_schema.columns
    where table_schema in ${sql([...databaseRoles])} and column_name in ${sql([...ofWallet, ...ofItem])}
    order by 1, 2`
  const items = await sql<{ id: string }[]>`
    select id from payments.payments where wallet = ${wallet}
    union all select id from payouts.payouts where wallet = ${wallet}`
  const ids = items.map(({ id }) => id)
  const found = new Map<string, Map<string, Row>>()
  for (const { table, column } of columns) {
    const values = (ofItem as readonly string[]).includes(column) ? ids : [wallet]
    const rows = await sql<{ row: Row }[]>`
      select to_jsonb(t) as row from ${sql(table)} t where ${sql(column)} = any(${values})`
    const known = found.get(table) ?? new Map<string, Row>()
    for (const { row } of rows) known.set(JSON.stringify(row), shown(row))
    found.set(table, known)
  }
  return [...found]
    .map(([table, rows]) => ({ table, rows: [...rows.values()] }))
    .filter(({ rows }) => rows.length > 0)
}

const shown = (row: Row): Row =>
  Object.hasOwn(row, sealed) && row[sealed] !== '' ? { ...row, [sealed]: 'sealed' } : row

const walletPattern = /^0x[0-9a-fA-F]{40}$/
const form = (name: string) => ({
  usage: `person ${name} <wallet> [--json]`,
  takes: 1,
  faultIn: ([wallet = '']: readonly string[]) =>
    walletPattern.test(wallet) ? undefined : 'expected a wallet: 0x and 40 hex digits',
})

const exported = reading({
  ...{ does: 'everything stored about a wallet, as JSON', ...form('export') },
  read: async ({ words: [wallet = ''] }, { sql }): Promise<Found> => {
    const stored = await readPerson(sql, wallet.toLowerCase())
    const tables = Object.fromEntries(stored.map(({ table, rows }) => [table, rows]))
    return { text: JSON.stringify(tables, null, 2), data: { wallet, tables }, ok: true }
  },
})

/** How many rows of a table hold which kinds of personal data, and since when. */
export const exposureOf = ({ table, rows }: Stored) => {
  const times = rows.flatMap((row) => String(asObject(row)?.created_at ?? '') || []).sort()
  const columns = Object.keys(rows[0] ?? {}).map((column) => `${table}.${column}`)
  const kinds = personalData.filter((entry) => columns.some((column) => holds(entry, column)))
  return {
    ...{ table, rows: rows.length, first: times[0] ?? null, last: times.at(-1) ?? null },
    kinds: kinds.map(({ what }) => what),
  }
}

const exposure = reading({
  ...{
    does: 'which personal data of a wallet is stored where, for a breach notice',
    ...form('exposure'),
  },
  read: async ({ words: [wallet = ''] }, { sql }): Promise<Found> => {
    const exposed = (await readPerson(sql, wallet.toLowerCase())).map(exposureOf)
    const lines = exposed.map(({ table, rows, first, last, kinds }) =>
      [`${table}: ${rows}`, first && `${first} to ${last}`, kinds.join('; ')]
        .filter(Boolean)
        .join('  '),
    )
    return { text: lines.join('\n') || 'nothing is stored', data: { wallet, exposed }, ok: true }
  },
})

/** `ops person`: duties towards a user whose data is stored. */
export const person = among('what is stored about a wallet', { export: exported, exposure })
