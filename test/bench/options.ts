import { parseArgs } from 'node:util'

export const benchNames = [
  'backfill',
  'ponder',
  'growth',
  'freshness',
  'alone',
  'verify',
  'me',
  'signin',
  'quote',
  'topup',
  'cost',
  'sustained',
  'memory',
  'million',
  'sends',
  'x402',
  'webhook',
  'floods',
] as const
export type BenchName = (typeof benchNames)[number]

export type Options = {
  readonly names: readonly BenchName[]
  /** Least number of credit-line events for `backfill` and `ponder`. */
  readonly events: number
  readonly samples: number
  readonly seconds: number
  readonly connections: number
  readonly topups: number
  readonly topupsPerSecond: number
  /** Number of top-ups of `growth` between its measurements, and of `sustained` at each rate. */
  readonly payments: number
  readonly sends: number
  readonly minutes: number
  /** Time in ms by which each sync to the disk takes longer, for the benches of a whole stack. */
  readonly syncMs: number
  /** Number of old payments that `million` inserts. */
  readonly old: number
  readonly jsonPath: string | undefined
  readonly write: boolean
  readonly note: string | undefined
}

export const usage = `bun run bench [${benchNames.join(' | ')} …] [options]
  --events N        backfill, ponder: minimum number of events (default: 200000)
  --samples N       freshness, alone: number of samples (default: 120)
  --seconds N       verify, me, signin, quote, webhook, floods: seconds of each load (default: 10)
  --connections N   verify, me, signin, quote, webhook: connections of the load (default: 16)
  --topups N        topup, cost, million: number of top-ups, and of the cash-outs of cost (default: 100)
  --rate N          topup, cost, million: top-ups per second (default: 4)
  --payments N      growth, sustained: top-ups between its measurements, or at each of its rates (default: 3000)
  --sends N         sends, x402: number of sends by each relayer (default: 4000)
  --minutes N       memory: minutes of load (default: 2)
  --fsync-ms N      benches of a whole stack: each sync to the disk takes N ms longer, by strace(1) (default: 0)
  --old N           million: number of old payments (default: 1000000)
  --json FILE       writes all figures to FILE as JSON
  --write           replaces the table in test/bench/README.md
  --note TEXT       note above the table, such as other load on the machine`

export function readOptions(args: readonly string[]): Options {
  const text = (fallback: string) => ({ type: 'string', default: fallback }) as const
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      events: text('200000'),
      samples: text('120'),
      seconds: text('10'),
      connections: text('16'),
      topups: text('100'),
      rate: text('4'),
      payments: text('3000'),
      sends: text('4000'),
      minutes: text('2'),
      'fsync-ms': text('0'),
      old: text('1000000'),
      json: { type: 'string' },
      note: { type: 'string' },
      write: { type: 'boolean', default: false },
    },
  })
  const names = positionals.map((name) => {
    if ((benchNames as readonly string[]).includes(name)) return name as BenchName
    throw new Error(`unknown bench: ${name}`)
  })
  return {
    names: names.length > 0 ? benchNames.filter((name) => names.includes(name)) : benchNames,
    events: count('events', values.events),
    samples: count('samples', values.samples),
    seconds: count('seconds', values.seconds),
    connections: count('connections', values.connections),
    topups: count('topups', values.topups),
    topupsPerSecond: count('rate', values.rate),
    payments: count('payments', values.payments),
    sends: count('sends', values.sends),
    minutes: count('minutes', values.minutes),
    syncMs: values['fsync-ms'] === '0' ? 0 : count('fsync-ms', values['fsync-ms']),
    old: count('old', values.old),
    jsonPath: values.json,
    write: values.write,
    note: values.note,
  }
}

function count(name: string, given: string): number {
  if (!/^[1-9]\d{0,8}$/.test(given)) throw new Error(`--${name} must be a positive integer`)
  return Number(given)
}
