import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import type { ScratchPostgres } from '#test/support/scratch-postgres'
import { oneOf, seeded } from '../simulation/world/choices'
import type { Statement } from './line'
import { type Choose, type Ground, type Order, type Result, runOrder, told, type Works } from './order'
import { openSide, type Rules, type Side } from './side'

/** A mark `// guard: …` above a race names a guard without which some order goes wrong: test/guards/README.md. */
export type Race = {
  readonly name: string
  /** Returns true for a statement that is held. By default all are; others belong to the previous step. */
  readonly turns?: (statement: Statement) => boolean
  /** Number of random orders, for a race with too many or without an end. */
  readonly chance?: number
  /** Prepares the race. The returned function makes new rows for one order. */
  readonly open: (stage: Stage) => Promise<() => Promise<Try>>
}

export type Stage = {
  readonly sides: readonly [Side, Side]
  /** Connection of an administrator, which is never held. */
  readonly db: PostgresJsDatabase
}

export type Try = {
  readonly works: Works
  readonly judge: (results: readonly Result[]) => Promise<RaceVerdict>
}
export type RaceVerdict = { readonly outcome: string; readonly wrong: readonly string[] }

export type Report = {
  readonly orders: number
  /** Most statements of each session in any order. */
  readonly statements: readonly [number, number]
  /** Number of orders in which a session waited for a lock. */
  readonly waited: number
  readonly outcomes: ReadonlyMap<string, number>
  readonly wrong: readonly string[]
  readonly isWhole: boolean
}

type Extent = {
  /** Number of random orders from a fixed seed; undefined for all. */
  readonly sample?: number | undefined
  readonly most?: number | undefined
  /** True if the first order that goes wrong ends the race. */
  readonly untilWrong?: boolean
}

/** Returns true if this process was slow and exceeded a service's limit, which is no fault. */
const isLate = (result: Result): boolean =>
  'error' in result && /lock timeout|idle-in-transaction timeout|did not answer within/.test(String(result.error))
/** Most tries of an order in which a session was too slow. */
const triesMax = 5

export async function runRace(
  server: ScratchPostgres,
  race: Race,
  { sample, most = Number.POSITIVE_INFINITY, untilWrong = false }: Extent = {},
): Promise<Report> {
  const rules: Rules = {
    isOn: false,
    order: 0,
    turns: race.turns ?? (() => true),
    changed: () => {},
  }
  await using ends = new AsyncDisposableStack()
  const [left, right] = [await openSide('A', server, rules), await openSide('B', server, rules)]
  for (const side of [left, right]) ends.use(side)
  const open = () => postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  const [sql, watch] = [open(), open()]
  for (const one of [sql, watch]) ends.defer(() => one.end({ timeout: 2 }))
  const ground: Ground = { sides: [left, right], rules, watch }
  const next = await race.open({ sides: [left, right], db: drizzle(sql) })
  for (const side of [left, right]) await side.connect()
  const tally = openTally()
  const choices = sample === undefined ? everyOrder() : someOrders(sample)
  let isWhole = sample === undefined
  for (const begin of choices) {
    isWhole &&= tally.report().orders < most
    if (!isWhole && sample === undefined) break
    for (let tries = 1; ; tries++) {
      const { works, judge } = await next()
      const order = await runOrder(ground, works, begin())
      if (tries < triesMax && order.results.some(isLate)) continue
      tally.count(order, await judge(order.results))
      break
    }
    if (untilWrong && tally.report().wrong.length > 0) break
  }
  const report = tally.report()
  // A race whose sessions do not take turns has one order, and proves nothing.
  if (report.wrong.length === 0 && Math.min(...report.statements) === 0)
    throw new Error(`${race.name}: no statement of a session was held, so change its turns`)
  return { ...report, isWhole }
}

/** Begins an order and makes its choices from its beginning. */
type Begin = () => Choose

/** Yields every order, depth first: first choices everywhere, then the next from the end on. */
function* everyOrder(): Generator<Begin> {
  let path: { chosen: number; count: number }[] = []
  do {
    const known = path.length
    let at = 0
    yield () => {
      path = path.slice(0, known)
      at = 0
      return (count) => {
        const step = path[at] ?? { chosen: 0, count }
        if (step.count !== count) throw new Error('the same choices gave another order')
        path[at++] = step
        return step.chosen
      }
    }
    path = path.slice(0, at)
    while (path.length > 0 && path.at(-1)!.chosen + 1 === path.at(-1)!.count) path.pop()
    const last = path.at(-1)
    if (last) last.chosen++
  } while (path.length > 0)
}

function* someOrders(many: number): Generator<Begin> {
  const choices = seeded(1)
  for (let order = 0; order < many; order++) yield () => (count) => oneOf(choices, count)
}

function openTally() {
  const outcomes = new Map<string, number>()
  const wrong: string[] = []
  const statements: [number, number] = [0, 0]
  let orders = 0
  let waited = 0
  return {
    count: ({ steps }: Order, verdict: RaceVerdict) => {
      orders++
      if (steps.some((step) => step.waited)) waited++
      for (const side of [0, 1] as const) {
        const many = steps.filter((step) => step.side === side).length
        if (many > statements[side]) statements[side] = many
      }
      outcomes.set(verdict.outcome, (outcomes.get(verdict.outcome) ?? 0) + 1)
      if (verdict.wrong.length > 0) wrong.push(`${verdict.wrong.join('; ')}\n${told(steps)}`)
    },
    report: (): Omit<Report, 'isWhole'> => ({ orders, statements, waited, outcomes, wrong }),
  }
}

/** Counts the orders of sessions that never wait for each other. */
export function ordersOf([left, right]: readonly [number, number]): bigint {
  let orders = 1n
  for (let at = 1; at <= right; at++) orders = (orders * BigInt(left + at)) / BigInt(at)
  return orders
}

/** Returns the failures. Every message must be done, because a lost race must not fail. */
export const failures = (results: readonly Result[], done: readonly unknown[]): string[] =>
  results.flatMap((result, at) => {
    if ('error' in result) return [`${'AB'[at]} failed: ${result.error}`]
    return done.includes(result.value) ? [] : [`${'AB'[at]} needs a redelivery`]
  })
