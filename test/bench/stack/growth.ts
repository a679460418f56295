import type { Sql } from 'postgres'
import { outsideOf } from '#infra/demo/external'
import type { Stack } from '#infra/local/stack'
import { verifiedUsers } from '../../support/people'
import { openCheckout } from '../../support/requests'
import { against, type Figure, figureText } from '../figure'
import type { Options } from '../options'
import { arrive } from './arrivals'
import { countStatements, openAdmin } from './counts'
import { watchCredits } from './credits'

const bench = 'growth'
const peopleMax = 100
/** Number of top-ups of each measurement, and their rate per second. */
const [measured, perSecond] = [200, 20]

/**
 * Measures what a top-up reads in Postgres at the beginning of a burst on a fresh database, and after `payments` more. Tables
 * are not analysed meanwhile: whether Postgres does so in time during a burst is luck.
 */
export async function benchGrowth(stack: Stack, { payments }: Options): Promise<Figure[]> {
  await using sql = openAdmin(stack)
  await countStatements(stack, sql.client)
  await analyseByItself(sql.client, false)
  try {
    const people = await verifiedUsers(stack, peopleMax)
    await using credits = watchCredits(stack)
    const outside = outsideOf(stack.info)
    const topUps = (count: number) =>
      arrive(count, 1_000 / perSecond, async (index) => {
        const { paymentId } = await openCheckout(people[index % people.length]!)
        await outside.pay(paymentId, 'QRIS')
        await credits.creditedAt(paymentId)
      })
    const buffersEach = async () => {
      const before = await buffersRead(sql.client)
      await topUps(measured)
      return ((await buffersRead(sql.client)) - before) / measured
    }
    const first = await buffersEach()
    await topUps(payments)
    const last = await buffersEach()
    return [
      {
        bench,
        name: `top-up, buffers read after ${payments.toLocaleString('en')} others`,
        unit: '',
        value: last,
        ...against(last, first, `the same at first, ${figureText(first)}`),
        aim: { of: 'ratio', bound: 'at most', limit: 1.5 },
      },
    ]
  } finally {
    await analyseByItself(sql.client, true)
  }
}

async function analyseByItself(sql: Sql, does: boolean): Promise<void> {
  await sql.unsafe(`alter system set autovacuum = ${does ? 'on' : 'off'}`)
  await sql`select pg_reload_conf()`
}

/** Returns the number of buffers that statements of the services have read so far, from memory or the disk. */
async function buffersRead(sql: Sql): Promise<number> {
  const [read] = await sql<{ buffers: number }[]>`
    select sum(shared_blks_hit + shared_blks_read)::float8 as buffers
    from pg_stat_statements join pg_user on usesysid = userid where usename <> 'postgres' and toplevel`
  return read!.buffers
}
