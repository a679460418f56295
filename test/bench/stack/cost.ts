import type { Sql } from 'postgres'
import { outsideOf } from '#infra/demo/external'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { listInFlight } from '#infra/operations/cli/in-flight'
import { pause } from '#platform/deadline'
import { serviceNames } from '#shared/messages/topic'
import { cashOut, flowsEnding } from '../../support/flows'
import { verifiedUsers } from '../../support/people'
import { openCheckout } from '../../support/requests'
import { against, type Figure } from '../figure'
import type { Options } from '../options'
import { arrive } from './arrivals'
import { type Counts, countStatements, countTransactions, openAdmin, readCounts } from './counts'
import { watchCredits } from './credits'
import { processorMs } from './processor-time'

const bench = 'cost'
const peopleMax = 40
const restMs = 20_000
/** Funds of a user for its cash-outs. */
const cashes = { ausdMicro: 10_000_000_000n }
/** Most flows of the warm-up, which compiles the code and lets Postgres analyse the tables. */
const warmUpMax = 200
/** Processes that are measured: all but the chain and the provider. */
const measured = [...serviceNames, 'nats-server', 'postgres'] as const
type Measured = (typeof measured)[number]

/** Measures what one top-up and one cash-out cost under load, and what an idle stack costs. */
export async function benchCost(stack: Stack, options: Options): Promise<Figure[]> {
  await using sql = openAdmin(stack)
  await countStatements(stack, sql.client)
  const insertMs = await insertYardstick(stack, sql.client)
  const people = await verifiedUsers(stack, Math.min(peopleMax, options.topups), cashes)
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
  const cashouts = async (count: number) => {
    const flows = await arrive(count, everyMs, (index) => cashOut(stack, people[index % people.length]!))
    await flowsEnding(flows, 120_000)
  }
  await pause(2 * restMs) // In this pause, connections prepare the statements of an idle stack.
  // This comes before any flow, because the last payments and cash-outs are asked for again.
  const rest = await spent(
    stack,
    () => countTransactions(sql.client),
    () => pause(restMs),
  )
  await topups(Math.min(warmUpMax, options.topups))
  await cashouts(Math.min(warmUpMax, options.topups))
  await sql.client`analyze`
  await pause(2 * restMs)
  const counts = () => readCounts(stack, sql.client)
  const topup = await spent(stack, counts, () => topups(options.topups))
  const cashout = await spent(stack, counts, () => cashouts(options.topups))
  const perSecond = (value: number) => value / (restMs / 1_000)
  return [
    ...figuresOf('top-up', topup, options, {
      cpu: { ...against(cpuOf(topup) / options.topups, insertMs, 'row insert, server and client'), aim: atMost(10) },
      statements: { aim: atMost(30) },
      roundTrips: { aim: atMost(20) },
      messages: { aim: atMost(24) },
      providerCalls: { aim: atMost(2) },
    }),
    ...figuresOf('cash-out', cashout, options, {}),
    { bench, name: 'idle, CPU time', unit: 'ms/s', value: perSecond(cpuOf(rest)) },
    {
      bench,
      name: 'idle, SQL transactions',
      unit: 'per second',
      value: perSecond(rest.counts.transactions),
      aim: atMost(8),
    },
  ]
}

const atMost = (limit: number) => ({ of: 'value', bound: 'at most', limit }) as const

const countNames = {
  statements: 'SQL statements',
  roundTrips: 'SQL round trips',
  transactions: 'SQL transactions',
  syncs: 'syncs of Postgres to the disk',
  messages: 'messages into and out of NATS',
  stored: 'messages stored by JetStream',
  providerCalls: 'calls of the provider',
} as const satisfies Record<keyof Counts, string>

/** Returns the figures of one flow. `more` adds aims and yardsticks. */
function figuresOf(
  flow: string,
  { times, counts }: Spent<Counts>,
  { topups, topupsPerSecond }: Options,
  more: Partial<Record<keyof Counts | 'cpu', Partial<Figure>>>,
): Figure[] {
  const ms = (value: number) => ({ bench, unit: 'ms', value: value / topups })
  return [
    {
      ...ms(cpuOf({ times })),
      name: `${flow}, CPU time`,
      note: `${topups} at ${topupsPerSecond}/s`,
      ...more.cpu,
    },
    ...measured.map((name): Figure => ({ ...ms(times[name]), name: `${flow}, CPU time of ${name}` })),
    ...Object.entries(countNames).map(
      ([key, name]): Figure => ({
        bench,
        name: `${flow}, ${name}`,
        unit: '',
        value: counts[key as keyof Counts] / topups,
        ...more[key as keyof Counts],
      }),
    ),
  ]
}

type Times = Readonly<Record<Measured, number>>
type Spent<C> = { readonly times: Times; readonly counts: C }

const cpuOf = ({ times }: { readonly times: Times }) => measured.reduce((all, name) => all + times[name], 0)

async function spent<C extends Readonly<Record<string, number>>>(
  stack: Stack,
  count: () => Promise<C>,
  work: () => Promise<unknown>,
): Promise<Spent<C>> {
  const now = async () => ({
    times: Object.fromEntries(measured.map((name) => [name, processorMs(stack.process(name).pid())])) as Times,
    counts: await count(),
  })
  const before = await now()
  await work()
  const after = await now()
  const less = <T extends Readonly<Record<string, number>>>(to: T, from: T) =>
    Object.fromEntries(Object.entries(to).map(([key, value]) => [key, value - from[key]!])) as T
  return { times: less(after.times, before.times), counts: less(after.counts, before.counts) }
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
