import type { Sql } from 'postgres'
import { databaseRoles } from '#infra/migrations/databases'
import { streams } from '#infra/nats/topology'
import { reading } from '#infra/operations/cli/command'
import { rules } from '#infra/operations/pruning/rules'
import { counted } from '#infra/operations/text'
import type { Bus } from '#platform/bus/open'

/** Size of a table or stream. `keptDays` is null if the contents are permanent. */
export type Size = {
  of: 'database' | 'bus'
  name: string
  rows: number
  bytes: number
  keptDays: number | null
}

export type Growth = Size & { rowsPer1000: number; bytesPer1000: number; bytesInYear: number }

export const growth = reading({
  does: 'show sizes of tables and streams, per thousand payments and after a year',
  usage: 'growth [--per-day <payments>] [--free <free GiB on the database disk>] [--json]',
  options: { 'per-day': { type: 'string', default: '1000' }, free: { type: 'string' } },
  faultIn: (_, { 'per-day': perDay, free = '1' }) =>
    Number(perDay) > 0 && Number(free) > 0 ? undefined : '--per-day and --free must be above 0',
  read: async ({ options }, { sql, bus }) => {
    const perDay = Number(options['per-day'])
    const { payments, tables } = await readTables(sql)
    const streamed = await readStreamSizes(bus).catch((error: Error) => ({ unread: error.message }))
    const [streams, unread] = 'unread' in streamed ? [[], streamed.unread] : [streamed]
    const grown = growthOf([...tables, ...streams], payments, perDay)
    const freeBytes = options.free === undefined ? undefined : Number(options.free) * gibibyte
    const fullInDays = freeBytes === undefined ? undefined : daysUntilFull(grown, perDay, freeBytes)
    const lines = [
      growthText(grown, payments, perDay),
      fullText(fullInDays, payments),
      ...(unread === undefined ? [] : ['', 'not read:', `  streams: ${unread}`]),
    ]
    const data = { payments, perDay, grown, fullInDays, unread: unread ?? null }
    return { text: lines.join('\n'), data, ok: unread === undefined }
  },
})

/** Pages below which a part of the last page makes an estimate wrong, and a count is cheap. */
const smallPages = 10

type TableRow = { name: string; schema: string; table: string; bytes: number; rows: number | null }

/**
 * Reads sizes, and estimates rows as the planner does: by the density of the latest analysis, which a standby and a server
 * after a crash have too, unlike `pg_stat_user_tables`. A table that was small then, or had none, is counted. `payments`
 * counts cash-outs too.
 */
export async function readTables(sql: Sql): Promise<{ payments: number; tables: Size[] }> {
  const found = await sql<TableRow[]>`
    select schema || '.' || "table" as name, schema, "table", bytes,
      case when relpages > ${smallPages} then round(reltuples / relpages * pages)::float8 end as rows
    from (
      select nspname as schema, relname as "table", reltuples, relpages, pg_total_relation_size(c.oid)::float8 as bytes,
        pg_relation_size(c.oid) / current_setting('block_size')::int as pages
      from pg_class c join pg_namespace n on n.oid = relnamespace
      where relkind = 'r' and nspname in ${sql([...databaseRoles])}) sizes order by 1`
  const counted = found.map(async ({ name, schema, table, bytes, rows }) => {
    const { count } = rows === null ? await countRows(sql, schema, table) : { count: rows }
    return { of: 'database' as const, name, rows: count, bytes, keptDays: keptDaysOf(name) }
  })
  const tables = await Promise.all(counted)
  const rowsOf = (table: string) => tables.find(({ name }) => name === table)?.rows ?? 0
  return { payments: rowsOf('payments.payments') + rowsOf('payouts.payouts'), tables }
}

async function countRows(sql: Sql, schema: string, table: string): Promise<{ count: number }> {
  const [counted] = await sql<[{ count: number }]>`select count(*)::float8 as count from ${sql(schema)}.${sql(table)}`
  return counted
}

const keptDaysOf = (table: string): number | null => {
  const own = rules.filter((rule) => rule.table === table)
  return own.length > 0 ? Math.max(...own.map(({ keptDays }) => keptDays)) : null
}

const dayNanos = 86_400_000_000_000

async function readStreamSizes(bus: () => Promise<Bus>): Promise<Size[]> {
  const { nc } = await bus()
  const manager = await nc.jetstreamManager({ timeout: 10_000, checkAPI: false })
  const sizes = streams.map(async ({ name, max_age: ageNanos }) => {
    const { state } = await manager.streams.info(name)
    const keptDays = ageNanos ? ageNanos / dayNanos : null
    return { of: 'bus' as const, name, rows: state.messages, bytes: state.bytes, keptDays }
  })
  return await Promise.all(sizes)
}

const yearDays = 365

export const growthOf = (sizes: readonly Size[], payments: number, perDay: number): Growth[] =>
  sizes.map((size) => {
    const per1000 = (count: number) => (payments === 0 ? 0 : (count * 1_000) / payments)
    const days = Math.min(size.keptDays ?? yearDays, yearDays)
    const bytesPer1000 = per1000(size.bytes)
    const bytesInYear = (bytesPer1000 / 1_000) * perDay * days
    return { ...size, rowsPer1000: per1000(size.rows), bytesPer1000, bytesInYear }
  })

/**
 * Returns the days until the tables fill the disk, or Infinity if they never do. A table with a retention period grows
 * until it removes as much as it adds.
 */
export function daysUntilFull(grown: readonly Growth[], perDay: number, freeBytes: number): number {
  const tables = grown
    .filter(({ of }) => of === 'database')
    .map(({ bytes, bytesPer1000, keptDays }) => {
      const bytesPerDay = (bytesPer1000 / 1_000) * perDay
      if (bytesPerDay === 0) return { bytesPerDay, days: 0 }
      const whole = keptDays === null ? Number.POSITIVE_INFINITY : keptDays * bytesPerDay
      return { bytesPerDay, days: Math.max(0, (whole - bytes) / bytesPerDay) }
    })
    .sort((left, right) => left.days - right.days)
  let [day, left] = [0, freeBytes]
  for (const [at, { days }] of tables.entries()) {
    const perDayNow = tables.slice(at).reduce((sum, { bytesPerDay }) => sum + bytesPerDay, 0)
    if (perDayNow > 0 && left <= perDayNow * (days - day)) return day + left / perDayNow
    left -= perDayNow * (days - day)
    day = days
  }
  return Number.POSITIVE_INFINITY
}

export function fullText(days: number | undefined, payments: number): string {
  if (days === undefined)
    return 'To estimate when the disk will be full, add --free <GiB>, the free space on the database disk.'
  if (payments === 0) return 'no payments yet: cannot estimate when the disk will be full'
  if (!Number.isFinite(days)) return 'at this rate the tables will never fill the disk'
  const few = payments < enough ? `; with only ${counted(payments, 'payment')} this is far too pessimistic` : ''
  return `disk full in about ${counted(Math.floor(days), 'day')}, counting tables only (no logs or backups)${few}`
}

const mebibyte = 1024 * 1024
const gibibyte = 1024 * mebibyte
/** Number of payments from which rows outweigh the first pages of tables and indexes. */
const enough = 1_000
const mib = (bytes: number) => (bytes / mebibyte).toFixed(1)

/** Formats the projection, largest table first. */
export function growthText(grown: readonly Growth[], payments: number, perDay: number): string {
  const line = (...cells: string[]) =>
    cells.map((cell, at) => (at === 0 ? cell.padEnd(34) : cell.padStart(15))).join('')
  const sorted = grown.toSorted((left, right) => right.bytesInYear - left.bytesInYear)
  const few =
    payments < enough
      ? ` With fewer than ${enough.toLocaleString('en')} payments, index overhead inflates the estimate.`
      : ''
  const inYear = grown.reduce((sum, { bytesInYear }) => sum + bytesInYear, 0)
  return [
    `${payments} payments and cash-outs. Projection for one year at ${perDay}/day.${few}`,
    line('', 'rows', 'MiB', 'rows/1000', 'MiB/1000', 'kept, days', 'MiB in a year'),
    ...sorted.map(({ name, rows, bytes, rowsPer1000, bytesPer1000, keptDays, bytesInYear }) =>
      line(
        name,
        String(rows),
        mib(bytes),
        rowsPer1000.toFixed(0),
        mib(bytesPer1000),
        keptDays === null ? 'ever' : keptDays.toFixed(keptDays < 1 ? 2 : 0),
        mib(bytesInYear),
      ),
    ),
    line('all', '', mib(grown.reduce((sum, { bytes }) => sum + bytes, 0)), '', '', '', mib(inYear)),
  ].join('\n')
}
