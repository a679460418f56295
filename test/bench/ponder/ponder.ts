import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { startChild } from '#infra/local/child'
import { waitUntil } from '#infra/local/wait'
import type { Ground } from '../backfill/ground'
import { type Totals, totalsQuery } from '../backfill/projection'
import type { Run } from '../backfill/reader'
import { against, type Figure } from '../figure'
import { peakMemoryMb } from '../memory/process-memory'
import { layPonder } from './app'

const deadlineMs = 60 * 60_000

/** Runs Ponder from the start of its process until `/ready`. */
async function runPonder(ground: Ground): Promise<Run & { version: string }> {
  const databaseUrl = await ground.freshDatabase('ponder')
  const { dir, factsFile, port, node } = await layPonder(ground, databaseUrl)
  const ponder = join(dir, 'node_modules/ponder')
  const { version } = JSON.parse(readFileSync(join(ponder, 'package.json'), 'utf8'))
  const logFile = join(ground.dir, 'logs/ponder.log')
  const cli = join(ponder, 'dist/esm/bin/ponder.js')
  if (!existsSync(cli)) throw new Error(`ponder ${version}: ${cli} not found`)
  const startedAt = performance.now()
  const child = startChild({
    name: 'ponder',
    bin: node,
    args: [cli, '--root', dir, '--log-format', 'json', 'start', '--schema', 'bench', '-p', `${port}`],
    env: {
      HOME: dir,
      PONDER_TELEMETRY_DISABLED: 'true',
      NODE_ENV: 'production',
      BENCH_FACTS: factsFile,
    },
    logFile,
  })
  try {
    const died = child.exited.then((how) => Promise.reject(new Error(`ponder exited: ${how}`)))
    await Promise.race([ready(port), died])
    const tookMs = performance.now() - startedAt
    const peakMb = peakMemoryMb(child.pid)
    return { tookMs, peakMb, version, totals: await totalsOf(databaseUrl) }
  } catch (error) {
    const log = readFileSync(logFile, 'utf8').trim().split('\n').slice(-3).join(' ')
    throw new Error(`${(error as Error).message}; ${log.slice(0, 600)}`)
  } finally {
    await child.end()
  }
}

const ready = (port: number) =>
  waitUntil(
    'ponder to be ready',
    async () => (await fetch(`http://127.0.0.1:${port}/ready`, { signal: AbortSignal.timeout(2_000) })).ok,
    deadlineMs,
    20,
  )

async function totalsOf(databaseUrl: string): Promise<Totals> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  try {
    const [totals] = await sql.unsafe<Totals[]>(totalsQuery('bench.wallet', 'drawn', 'bench.cycle'))
    return totals!
  } finally {
    await sql.end()
  }
}

export async function benchPonder(
  ground: Ground,
  ours: Run | undefined,
  say: (line: string) => void,
): Promise<Figure[]> {
  const bench = 'ponder'
  try {
    const run = await runPonder(ground)
    const eventsPerSecond = (1_000 * ground.chain.events) / run.tookMs
    const name = `Ponder ${run.version}`
    const same = !ours || Bun.deepEquals(run.totals, ours.totals)
    const figures: Figure[] = [
      {
        bench,
        name: `${name}, process start to /ready`,
        value: eventsPerSecond,
        unit: 'events/s',
        ...against(eventsPerSecond, ground.loop.eventsPerSecond, 'viem loop'),
        note: same ? 'same projection as ours' : `projection differs: ${JSON.stringify(run.totals)}`,
      },
      { bench, name: `${name}, peak memory`, value: run.peakMb, unit: 'MB' },
    ]
    if (!ours) return figures
    const times = run.tookMs / ours.tookMs
    const memory = ours.peakMb / run.peakMb
    const over = (of: string, value: number, bound: 'at least' | 'at most'): Figure => ({
      bench,
      name: `indexer-reader over Ponder, ${of}`,
      value,
      unit: 'times',
      aim: { of: 'value', bound, limit: 1 },
      note: `${name}, ${ground.chain.events} events`,
    })
    return [...figures, over('speed', times, 'at least'), over('memory', memory, 'at most')]
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    say(`Ponder is not available: ${reason}`)
    const note = `${reason.split('\n')[0]!.slice(0, 120)}`
    return [{ bench, name: 'Ponder', value: null, unit: 'events/s', note }]
  }
}
