import type { Sql } from 'postgres'
import { databaseRoles } from '#infra/migrations/databases'
import { streams } from '#infra/nats/topology'
import { reading } from '#infra/ops/verb'
import { rules } from '#infra/pruning/rules'
import type { Bus } from '#shared/bus/open'
import { counted } from '#shared/trace/words'

/** How large a table or stream is now; `keptDays` null: what is in it stays for ever. */
export type Size = {
  of: 'database' | 'bus'
  name: string
  rows: number
  bytes: number
  keptDays: number | null
}

/** What is there for each thousand payments, and what a year comes to at so many payments a day. */
export type Growth = Size & { rowsPer1000: number; bytesPer1000: number; bytesInYear: number }

/** Reads sizes alone, and changes nothing. */
export const growth = reading({
  does: 'how large every table and stream is, for each thousand payments and in a year',
  usage: 'growth [--per-day <payments>] [--free <GiB on the disk of the database>] [--json]',
  options: { 'per-day': { type: 'string', default: '1000' }, free: { type: 'string' } },
  faultIn: (_, { 'per-day': perDay, free = '1' }) =>
    Number(perDay) > 0 && Number(free) > 0 ? undefined : '--per-day and --free are numbers above 0',
  read: async ({ options }, { sql, bus }) => {
    const perDay = Number(options['per-day'])
    const { payments, tables } = await readTables(sql)
    const sizes = [...tables, ...(await readStreamSizes(await bus()))]
    const grown = growthOf(sizes, payments, perDay)
    const freeBytes = options.free === undefined ? undefined : Number(options.free) * gibibyte
    const fullInDays = freeBytes === undefined ? undefined : daysUntilFull(grown, perDay, freeBytes)
    const lines = [growthText(grown, payments, perDay), fullText(fullInDays, payments)]
    return { text: lines.join('\n'), data: { payments, perDay, grown, fullInDays }, ok: true }
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
    tables: found.map((one) => ({ of: 'database', ...one, keptDays: keptDaysOf(one.name) })),
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
    return { of: 'bus' as const, name, rows: state.messages, bytes: state.bytes, keptDays }
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

/**
 * On which day the tables have taken what is free on their disk; Infinity: they never do. What ends by
 * age grows until as much of it is made as ends.
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

/** The answer to when the disk is full; undefined: nobody said how much is free. */
export function fullText(days: number | undefined, payments: number): string {
  if (days === undefined)
    return 'How long until the disk is full? Give --free <GiB>: what `df` says is free on the disk of the database.'
  if (payments === 0) return 'without a payment nobody can say when the disk is full'
  if (!Number.isFinite(days)) return 'at this rate the tables never fill the disk'
  // A table takes whole pages from its first row on.
  const few =
    payments < enough ? `; of ${counted(payments, 'payment')} it looks far sooner than it is` : ''
  return `full in about ${counted(Math.floor(days), 'day')}, by the tables alone: log and backups come on top${few}`
}

const mebibyte = 1024 * 1024
const gibibyte = 1024 * mebibyte
/** From so many payments on their rows weigh more than the first pages of tables and indexes. */
const enough = 1_000
const mib = (bytes: number) => (bytes / mebibyte).toFixed(1)

/** The largest first; what a year comes to in the end. */
export function growthText(grown: readonly Growth[], payments: number, perDay: number): string {
  const line = (...cells: string[]) =>
    cells.map((cell, at) => (at === 0 ? cell.padEnd(34) : cell.padStart(15))).join('')
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
