import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres, { type Sql } from 'postgres'
import type { Stack } from '#infra/local/stack'
import { growingTables as growing } from '#infra/operations/pruning/kept'
import { beginEachKind, borrower, flowsEnding } from '../support/flows'
import { quickChecks } from '../support/settings'
import { operate, ownStack } from '../support/stack'
import { scrape, valueIn } from '../support/telemetry/metrics'
import { patienceMs, waitUntil } from '../support/wait'
import { filled, fillTables } from './fill'
import { logPlans, plansIn, type Ran } from './plans'

/** Number of rows per table. An index helps more with more rows, so a plan that passes here passes with ten million. */
const rowsEach = 50_000
const dayMs = 86_400_000
const connection = { application_name: 'suite' }
const workers = [
  'gateway',
  'payments',
  'payouts',
  'chain-relayer',
  'indexer-reader',
  'books',
  'pruning', // These are the connections of operations.
  'operator',
]

const services = workers.filter((name) => !['books', 'pruning', 'operator'].includes(name))

let stack: Stack
let admin: Sql
/** Statements that were planned while the tables had a few rows, and those planned with all. */
let early: Ran[]
let ran: Ran[]
beforeAll(async () => {
  stack = await ownStack({
    terms: { holdSeconds: 15, minCycleSeconds: 0 },
    env: {
      ...quickChecks,
      // The old rows are rechecked once a day. With a shorter interval they would all be overdue, because a recheck that
      // is planned further ahead than twice the interval was planned by a wrong clock.
      gateway: { IDENTITY_RECHECK_MS: String(dayMs) },
      operations: { BOOKS_EVERY_MS: '3000', PRUNE_EVERY_MS: '3000' },
    },
    operations: true,
  })
  admin = postgres(stack.adminUrl, { max: 2, onnotice: () => {}, connection })
  const runs = async () => Number((await admin`select count(*) from books.runs`)[0]!.count)
  await waitUntil('the books knowing what there is', async () => (await runs()) > 0)
  const logFile = join(stack.dir, 'logs/postgres.log')
  const playEachKind = async () => {
    const person = await borrower(stack, { ausdMicro: 100_000_000n, wei: 10n ** 19n })
    await flowsEnding(await beginEachKind(stack, [person], 7))
  }
  await logPlans(admin, stack.adminUrl)
  await playEachKind()
  early = plansIn(logFile).filter(({ by }) => services.includes(by))
  await fillTables(admin, rowsEach)
  const filledAt = await runs()
  // The first comparison with the filled tables reads all of them.
  await waitUntil('the books knowing the old rows', async () => (await runs()) > filledAt + 1)
  const from = readFileSync(logFile, 'utf8').length
  await playEachKind()
  // A service's metrics may be late during the flows.
  await waitUntil('the figures of every service', async () => {
    const samples = await scrape(stack)
    return ['gateway', 'payments', 'payouts', 'chain-relayer'].every(
      (service) => valueIn(samples, 'ausd_outbox_messages', { service }) !== undefined,
    )
  })
  await askAsOperator()
  const before = await runs()
  await waitUntil('the books comparing all of it', async () => (await runs()) > before + 1)
  ran = await waitUntil(
    'a statement of every reader of the rows',
    () => {
      const plans = plansIn(logFile, from)
      const heard = new Set(plans.map(({ by }) => by))
      const missing = workers.filter((name) => !heard.has(name))
      if (missing.length > 0) throw new Error(`none of ${missing.join(', ')}`)
      return plans
    },
    patienceMs,
    1_000,
  )
})
afterAll(async () => {
  await admin?.end({ timeout: 1 })
  await stack?.[Symbol.asyncDispose]()
})

/** Runs the operators' commands that search the tables of money. The old rows are at least 20 days old. */
async function askAsOperator(): Promise<void> {
  const day = (daysAgo: number) => new Date(Date.now() - daysAgo * dayMs).toISOString().slice(0, 10)
  const wallet = `0x${'1'.padStart(40, '0')}`
  const commands = [
    ['books'],
    ['report', '--day', day(1)],
    ['persons', 'exchanges', wallet, '--year', day(0).slice(0, 4)],
    ['find', '--amount', '50000', '--currency', 'IDR'],
    ['find', '--ended', '--from', day(1)],
    ['find', '--affected', '--from', day(1)],
    ['find', '--wallet', wallet, '--state', 'credited'],
  ]
  for (const words of commands) expect((await operate(stack, ...words)).code).toBe(0)
}

describe(`with ${rowsEach} old rows in every growing table`, () => {
  test('every growing table is filled', () => {
    expect(growing.length).toBeGreaterThan(20)
    expect(growing.filter((name) => !filled.includes(name))).toEqual([])
  })

  test('ops growth names all of them, and the streams', async () => {
    const { code, said } = await operate(stack, 'growth', '--per-day', '10000')
    expect(code).toBe(0)
    for (const name of [...growing, 'WEBHOOKS', 'KV_rates']) expect(said).toContain(`${name} `)
    expect(said).toMatch(/^payments\.payments +5\d{4} .* ever /m)
  })

  test('the statements of all services, operators and jobs were recorded', () => {
    expect(new Set(ran.map(({ text }) => text)).size).toBeGreaterThan(100)
  })

  test('no statement reads one of them from end to end', () => {
    expect(scansIn(ran)).toEqual([])
  })
})

test('a service plans no statement, while a table has few rows, that would read it from end to end later', () => {
  expect(new Set(early.map(({ text }) => text)).size).toBeGreaterThan(80)
  expect(scansIn(early)).toEqual([])
})

function scansIn(plans: readonly Ran[]): string[] {
  const scans = plans.flatMap(({ by, text, scanned }) =>
    scanned.filter((table) => growing.includes(table)).map((table) => `${by}, ${table}: ${text}`),
  )
  return [...new Set(scans)]
}
