import { ageMs as ageOf, type Clock, steadyClock } from '#platform/clock'
import { type Log, openLogThrottled } from '#platform/log'
import type { BooksContext } from './context'
import { type Reconciled, reconcile } from './reconcile'

/** Figures for the metrics. Amounts are in minor units; `ageMs` is -1 before the first run. */
export type BooksFigures = {
  readonly breaks: { open: number; beyondGrace: number; oldestMs: number }
  readonly value: Record<string, { agrees: number; differs: number }>
  readonly run: { ageMs: number; tookMs: number; items: number; readable: 0 | 1 }
}

/** Time that a source may be unreadable before the books alert, in ms. Its own service has alerted by then. */
const unreadableMs = 15 * 60_000
const againMs = 3_600_000
/** Maximum alerts per run. A thousand breaks have one cause, and the metric counts them. */
const calledMax = 20

export function openReconciliation(
  context: BooksContext,
  { log, wholeEveryMs, steady = steadyClock }: { log: Log; wholeEveryMs: number; steady?: Clock },
): { reconcileOnce: () => Promise<void>; figures: () => BooksFigures } {
  const { clock, clockSteps = () => 0 } = context
  const call = openLogThrottled(log, steady, againMs)
  let last: { found: Reconciled; atMs: number } | undefined
  let readableAtMs = steady()
  let wholeAtMs: number | undefined
  let latestMs = clock()
  let stepsCompared = clockSteps()

  const reconcileOnce = async () => {
    wholeAtMs ??= (await lastWholeMs(context)) ?? clock()
    const [nowMs, steps] = [clock(), clockSteps()]
    // What changed while the clock of Postgres was behind has a time before the last comparison, which only a whole one
    // covers. It waits until the clock is no longer behind.
    const wasSet = steps !== stepsCompared && nowMs >= latestMs
    // The time is by the clock of Postgres, which may have been ahead.
    const whole = wasSet || ageOf(wholeAtMs, nowMs) >= wholeEveryMs
    const found = await reconcile(context, { whole })
    latestMs = Math.max(latestMs, nowMs)
    if (wasSet) stepsCompared = steps
    const before = last?.found.breaks.length ?? 0
    last = { found, atMs: steady() }
    if (whole) wholeAtMs = clock()
    if (found.unreadable === undefined) readableAtMs = steady()
    else {
      const level = steady() - readableAtMs > unreadableMs ? 'alarm' : 'warn'
      call[level]('unreadable', { says: found.unreadable }, 'chain or provider read failed, will retry')
    }
    const { breaks, items, tookMs } = found
    if (breaks.length !== before || whole) log.info({ open: breaks.length, items, whole, tookMs }, 'books reconciled')
    const needed = breaks.filter(({ standing }) => standing === 'counts')
    for (const { id, rule, item, asset, amount, about, ageMs } of needed.slice(0, calledMax)) {
      const what = { break: id, rule, item, asset, amount: String(amount), about }
      call.alarm(`break:${id}`, { ...what, ageMs: Math.round(ageMs) }, 'reconciliation break open')
    }
  }
  return { reconcileOnce, figures: () => figuresOf(last, steady()) }
}

async function lastWholeMs({ sql }: BooksContext): Promise<number | null> {
  const [row] = await sql<{ ms: number | null }[]>`
    select (extract(epoch from max(ended_at)) * 1000)::float8 as ms from books.runs where whole`
  return row!.ms
}

function figuresOf(last: { found: Reconciled; atMs: number } | undefined, nowMs: number): BooksFigures {
  if (!last) {
    const run = { ageMs: -1, tookMs: 0, items: 0, readable: 0 } as const
    return { breaks: { open: 0, beyondGrace: 0, oldestMs: 0 }, value: {}, run }
  }
  const { found, atMs } = last
  const counting = found.breaks.filter(({ standing }) => standing === 'counts')
  const ageMs = nowMs - atMs
  const oldestMs = Math.max(0, ...found.breaks.map((one) => one.ageMs + ageMs))
  return {
    breaks: { open: found.breaks.length, beyondGrace: counting.length, oldestMs },
    value: Object.fromEntries(
      found.matched.map(({ asset, agrees, differs }) => [asset, { agrees: Number(agrees), differs: Number(differs) }]),
    ),
    run: {
      ageMs,
      tookMs: found.tookMs,
      items: found.items,
      readable: found.unreadable === undefined ? 1 : 0,
    },
  }
}
