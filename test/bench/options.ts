import { parseArgs } from 'node:util'

export const benchNames = [
  'backfill',
  'ponder',
  'freshness',
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
  'webhook',
] as const
export type BenchName = (typeof benchNames)[number]

export type Options = {
  readonly names: readonly BenchName[]
  /** Credit-line events on the chain of `backfill` and `ponder`, at least. */
  readonly events: number
  readonly samples: number
  readonly seconds: number
  readonly connections: number
  readonly topups: number
  readonly topupsPerSecond: number
  /** Top-ups of `sustained`, at each of its rates. */
  readonly payments: number
  readonly sends: number
  /** Of load while memory is watched. */
  readonly minutes: number
  /** Old payments that `million` puts into the tables. */
  readonly old: number
  readonly jsonPath: string | undefined
  readonly write: boolean
  readonly note: string | undefined
}

export const usage = `bun run bench [${benchNames.join(' | ')} …] [options]
  --events N        events to backfill, at least (200000)
  --samples N       samples of freshness (120)
  --seconds N       of load on /verify, warm and cold each, on each server of quote, and on the rest (10)
  --connections N   of that load (16)
  --topups N        top-ups (100)
  --rate N          top-ups per second (4)
  --payments N      top-ups of sustained, at each of its rates (3000)
  --sends N         sends, by each relayer (4000)
  --minutes N       of load while memory is watched (2)
  --old N           old payments in the tables of million (1000000)
  --json FILE       writes every figure as JSON
  --write           puts the table into test/bench/README.md
  --note TEXT       said beside the table, e.g. what else the machine did`

/** Reads the command line; throws with what is wrong in it. */
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
      old: text('1000000'),
      json: { type: 'string' },
      note: { type: 'string' },
      write: { type: 'boolean', default: false },
    },
  })
  const names = positionals.map((name) => {
    if ((benchNames as readonly string[]).includes(name)) return name as BenchName
    throw new Error(`there is no bench ${name}`)
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
    old: count('old', values.old),
    jsonPath: values.json,
    write: values.write,
    note: values.note,
  }
}

function count(name: string, given: string): number {
  if (!/^[1-9]\d{0,8}$/.test(given)) throw new Error(`--${name} must be a whole number above 0`)
  return Number(given)
}
