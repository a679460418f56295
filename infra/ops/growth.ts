import type { Sql } from 'postgres'
import { databaseRoles } from '#infra/migrations/databases'
import { streams } from '#infra/nats/topology'
import { reading } from '#infra/ops/verb'
import { rules } from '#infra/pruning/rules'
import type { Bus } from '#shared/bus/open'

/** How large a table or stream is now; `keptDays` null: what is in it stays for ever. */
export type Size = { name: string; rows: number; bytes: number; keptDays: number | null }

/** What is there for each thousand payments, and what a year comes to at so many payments a day. */
export type Growth = Size & { rowsPer1000: number; bytesPer1000: number; bytesInYear: number }

/** Reads sizes alone, and changes nothing. */
export const growth = reading({
  does: 'how large every table and stream is, for each thousand payments and in a year',
  usage: 'growth [--per-day <payments>] [--json]',
  options: { 'per-day': { type: 'string', default: '1000' } },
  fits: (_, options) => Number(options['per-day']) > 0,
  read: async ({ options }, { sql, bus }) => {
    const perDay = Number(options['per-day'])
    const { payments, tables } = await readTables(sql)
    const sizes = [...tables, ...(await readStreamSizes(await bus()))]
    const grown = growthOf(sizes, payments, perDay)
    return {
      text: growthText(grown, payments, perDay),
      data: { payments, perDay, grown },
      ok: true,
    }
  },
})

/** Of every table as Postgres counts them, without a scan, and how many payments and cash-outs there are. */
export async function readTables(sql: Sql): Promise<{ payments: number; tables: Size[] }> {
  const found = await sql<{ name: string; rows: number; bytes: number }[]>`
    select schemaname || '.' || relname as name, n_live_tup::float8 as rows,
      pg_total_relation_size(relid)::float8 as bytes
    from pg_stat_user_tables where schemaname in ${sql([...databaseRoles])} order by 1`
  const rowsOf = (table: string) => found.find(({ name }) => name === table)?.rows ?? 0
  return {
    payments: rowsOf('payments.payments') + rowsOf('payouts.payouts'),
    tables: found.map((one) => ({ ...one, keptDays: keptDaysOf(one.name) })),
  }
}

const keptDaysOf = (table: string): number | null => {
  const own = rules.filter((rule) => rule.table === table)
  return own.length > 0 ? Math.max(...own.map(({ keptDays }) => keptDays)) : null
}

const dayNanos = 86_400_000_000_000

async function readStreamSizes({ nc }: Bus): Promise<Size[]> {
  const manager = await nc.jetstreamManager({ timeout: 10_000, checkAPI: false })
  const sizes = streams.map(async ({ name, max_age: ageNanos }) => {
    const { state } = await manager.streams.info(name)
    const keptDays = ageNanos ? ageNanos / dayNanos : null
    return { name, rows: state.messages, bytes: state.bytes, keptDays }
  })
  return await Promise.all(sizes)
}

const yearDays = 365

/** What ends by age comes to what is made while it is kept; everything else to a whole year of it. */
export const growthOf = (sizes: readonly Size[], payments: number, perDay: number): Growth[] =>
  sizes.map((size) => {
    const per1000 = (count: number) => (payments === 0 ? 0 : (count * 1_000) / payments)
    const days = Math.min(size.keptDays ?? yearDays, yearDays)
    const bytesPer1000 = per1000(size.bytes)
    const bytesInYear = (bytesPer1000 / 1_000) * perDay * days
    return { ...size, rowsPer1000: per1000(size.rows), bytesPer1000, bytesInYear }
  })

const mebibyte = 1024 * 1024
const mib = (bytes: number) => (bytes / mebibyte).toFixed(1)

/** The largest first; what a year comes to in the end. */
export function growthText(grown: readonly Growth[], payments: number, perDay: number): string {
  const line = (...cells: string[]) =>
    cells.map((cell, at) => (at === 0 ? cell.padEnd(34) : cell.padStart(13))).join('')
  const sorted = grown.toSorted((left, right) => right.bytesInYear - left.bytesInYear)
  const inYear = grown.reduce((sum, { bytesInYear }) => sum + bytesInYear, 0)
  return [
    `${payments} payments and cash-outs; of a year at ${perDay} a day. An empty table has its indexes, so few payments say too much.`,
    line('', 'rows', 'MiB', 'rows/1000', 'MiB/1000', 'kept, days', 'MiB in a year'),
    ...sorted.map(({ name, rows, bytes, rowsPer1000, bytesPer1000, keptDays, bytesInYear }) =>
      line(
        ...[name, String(rows), mib(bytes), rowsPer1000.toFixed(0), mib(bytesPer1000)],
        ...[keptDays === null ? 'ever' : keptDays.toFixed(keptDays < 1 ? 2 : 0), mib(bytesInYear)],
      ),
    ),
    line('all', '', mib(grown.reduce((sum, { bytes }) => sum + bytes, 0)), '', '', '', mib(inYear)),
  ].join('\n')
}
