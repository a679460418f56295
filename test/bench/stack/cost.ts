import postgres, { type Sql } from 'postgres'
import { outsideOf } from '#infra/demo/external'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { listInFlight } from '#infra/operations/cli/in-flight'
import { pause } from '#platform/deadline'
import { serviceNames } from '#shared/messages/topic'
import { verifiedUsers } from '../../support/people'
import { openCheckout } from '../../support/requests'
import { against, type Figure } from '../figure'
import type { Options } from '../options'
import { arrive } from './arrivals'
import { watchCredits } from './credits'
import { processorMs } from './processor-time'
import { countStatements, statementsSent, transactionsEnded } from './statements'

const bench = 'cost'
const peopleMax = 40
const restMs = 20_000
/** Most top-ups of the warm-up, which compiles the code and lets Postgres analyse the tables. */
const warmUpMax = 200
/** Processes that are measured: all but the chain and the provider. */
const measured = [...serviceNames, 'nats-server', 'postgres'] as const
type Measured = (typeof measured)[number]

/** Measures CPU time and SQL statements of one top-up under load, and of an idle stack. */
export async function benchCost(stack: Stack, options: Options): Promise<Figure[]> {
  await using sql = admin(stack)
  await countStatements(stack, sql.client)
  const insertMs = await insertYardstick(stack, sql.client)
  const people = await verifiedUsers(stack, Math.min(peopleMax, options.topups))
  await using credits = watchCredits(stack)
  const outside = outsideOf(stack.info)
  await waitUntil('all verifications to settle', async () => (await listInFlight(sql.client)).length === 0)
  const everyMs = 1_000 / options.topupsPerSecond
  const topups = (count: number) =>
    arrive(count, everyMs, async (index) => {
      const { paymentId } = await openCheckout(people[index % people.length]!)
      await outside.pay(paymentId, 'QRIS')
      await credits.creditedAt(paymentId)
    })
  await topups(Math.min(warmUpMax, options.topups))
  await sql.client`analyze`
  await pause(2 * restMs) // In this pause, connections prepare the statements of an idle stack.
  const rest = await spent(stack, sql.client, () => pause(restMs))

  const load = await spent(stack, sql.client, () => topups(options.topups))
  const perTopup = (value: number) => value / options.topups
  const perSecond = (value: number) => value / (restMs / 1_000)
  const sum = (times: Times) => measured.reduce((all, name) => all + times[name], 0)
  const each = measured.map(
    (name): Figure => ({
      bench,
      name: `top-up, CPU time of ${name}`,
      unit: 'ms',
      value: perTopup(load.times[name]),
    }),
  )
  return [
    {
      bench,
      name: 'top-up, CPU time',
      unit: 'ms',
      value: perTopup(sum(load.times)),
      ...against(perTopup(sum(load.times)), insertMs, 'row insert, server and client'),
      aim: { of: 'value', bound: 'at most', limit: 10 },
      note: `${options.topups} at ${options.topupsPerSecond}/s`,
    },
    ...each,
    {
      bench,
      name: 'top-up, SQL statements',
      unit: '',
      value: perTopup(load.statements),
      aim: { of: 'value', bound: 'at most', limit: 30 },
      note: `in ${Math.round(perTopup(load.transactions))} transactions`,
    },
    {
      bench,
      name: 'idle, CPU time',
      unit: 'ms/s',
      value: perSecond(sum(rest.times)),
    },
    {
      bench,
      name: 'idle, SQL transactions',
      unit: 'per second',
      value: perSecond(rest.transactions),
      aim: { of: 'value', bound: 'at most', limit: 10 },
    },
  ]
}

type Times = Readonly<Record<Measured, number>>

async function spent(stack: Stack, sql: Sql, work: () => Promise<unknown>) {
  const now = async () => ({
    times: Object.fromEntries(measured.map((name) => [name, processorMs(stack.process(name).pid())])) as Times,
    statements: await statementsSent(sql),
    transactions: await transactionsEnded(sql),
  })
  const before = await now()
  await work()
  const after = await now()
  return {
    times: Object.fromEntries(measured.map((name) => [name, after.times[name] - before.times[name]])) as Times,
    statements: after.statements - before.statements,
    transactions: after.transactions - before.transactions,
  }
}

const inserts = 2_000

/** Returns the CPU time of an insert in ms, client included. */
async function insertYardstick(stack: Stack, sql: Sql): Promise<number> {
  await sql`create table if not exists public.bench_yardstick (id bigserial primary key, said text)`
  const server = () => processorMs(stack.process('postgres').pid())
  const before = { own: process.cpuUsage(), server: server() }
  for (let turn = 0; turn < inserts; turn++)
    await sql`insert into public.bench_yardstick (said) values (${`row ${turn}`})`
  const own = process.cpuUsage(before.own)
  return ((own.user + own.system) / 1_000 + server() - before.server) / inserts
}

const admin = (stack: Stack) => {
  const client = postgres(stack.adminUrl, { max: 1, onnotice: () => {} })
  return { client, [Symbol.asyncDispose]: () => client.end({ timeout: 1 }) }
}
