import postgres, { type Sql } from 'postgres'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { pause } from '#platform/deadline'
import { fillTables } from '../../bounds/fill'
import { verifiedUsers } from '../../support/people'
import { against, type Figure, figureText } from '../figure'
import type { Options } from '../options'
import { quantile } from '../quantile'
import { benchCost } from '../stack/cost'
import { countStatements } from '../stack/counts'
import { benchTopup } from '../stack/topup'

const bench = 'million'
/** Schemas that are measured, without the books and the public record. */
const measured = /^(gateway|pricing|payments|payouts|chain_relayer)\./
const activityTables = ['payments.payments', 'payouts.payouts', 'chain_relayer.operation']
/** Rows of one wallet in each table when full, and before; both numbers exceed a page. */
const manyRows = 10_000
const someRows = 100
const readsEach = 300
const scrapes = 8
/** Interval in ms of scrapes. Metrics are cached for 3 s, so each scrape computes them. */
const scrapeEveryMs = 3_200
/** Time in ms in which the disk and caches settle after the inserts. */
const settleMs = 5_000

export async function benchMillion(stack: Stack, options: Options): Promise<Figure[]> {
  const sql = postgres(stack.adminUrl, { max: 2, onnotice: () => {} })
  try {
    const [few, many] = (await verifiedUsers(stack, 2)) as [Person, Person]
    await fillTables(sql, someRows, (table) => activityTables.includes(table))
    await giveRows(sql, many, someRows)
    // Counting costs time, so it is enabled before both measurements.
    await countStatements(stack, sql)
    const empty = await measure(stack, options, { few, many })
    for (const table of activityTables) await sql`delete from ${sql(table)} where id like 'old%'`
    await fillTables(sql, options.old, (table) => measured.test(table))
    await giveRows(sql, many, manyRows)
    await sql`checkpoint`
    await pause(settleMs)
    const full = await measure(stack, options, { few, many })
    return [...full].map(([name, { value, unit }]): Figure => {
      const before = empty.get(name)!
      return {
        bench,
        name: `${name}, full tables`,
        value,
        unit,
        ...against(value, before.value, `the same with empty tables, ${figureText(before.value)}`),
        aim: { of: 'ratio', bound: 'at most', limit: 1.2 },
        ...(name === 'GET /me, p50' ? { note: `${options.old.toLocaleString('en')} old payments` } : {}),
      }
    })
  } finally {
    await sql.end({ timeout: 1 })
  }
}

type Measured = ReadonlyMap<string, { readonly value: number; readonly unit: string }>

async function measure(
  stack: Stack,
  options: Options,
  { few, many }: { few: Person; many: Person },
): Promise<Measured> {
  const reads = new Map(
    Object.entries({
      'GET /me': () => few.get('/me'),
      'GET /me/activity': () => few.get('/me/activity'),
      'GET /me/activity, 10,000 rows': () => many.get('/me/activity'),
    }).map(([name, ask]) => [name, { ask, tookMs: [] as number[] }]),
  )
  // The reads alternate, so that other load affects all of them.
  for (let turn = 0; turn < readsEach; turn++)
    for (const [name, { ask, tookMs }] of reads) tookMs.push(await timed(name, ask))
  const scrape = () => fetch(`${stack.info.ops.gateway}/metrics`)
  const scrapesMs: number[] = []
  for (let turn = 0; turn < scrapes; turn++) {
    await pause(scrapeEveryMs)
    scrapesMs.push(await timed('GET /metrics', scrape))
  }
  const topup = await benchTopup(stack, options)
  const cost = await benchCost(stack, options)
  return new Map([
    ...[...reads].map(([name, { tookMs }]) => [`${name}, p50`, p50(tookMs)] as const),
    ['GET /metrics, p50', p50(scrapesMs)],
    taken(topup, 'paid to credited, p50'),
    taken(cost, 'top-up, CPU time'),
    taken(cost, 'top-up, SQL statements'),
  ])
}

const p50 = (tookMs: readonly number[]) => ({ value: quantile(tookMs, 0.5), unit: 'ms' })

const taken = (figures: readonly Figure[], name: string) => {
  const { value, unit } = figures.find((figure) => figure.name === name)!
  return [name, { value: value!, unit }] as const
}

async function timed(name: string, ask: () => Promise<{ status: number }>): Promise<number> {
  const askedAt = performance.now()
  const { status } = await ask()
  const tookMs = performance.now() - askedAt
  if (status !== 200) throw new Error(`${name}: status ${status} after ${Math.round(tookMs)} ms`)
  return tookMs
}

async function giveRows(sql: Sql, { wallet }: Person, count: number): Promise<void> {
  const ids = sql`(select 'old' || n from generate_series(1, ${count}) n)`
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`
    for (const table of activityTables) await tx`update ${tx(table)} set wallet = ${wallet} where id in ${ids}`
  })
  for (const table of activityTables) await sql`vacuum analyze ${sql(table)}`
}
