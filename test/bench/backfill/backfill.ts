import { against, type Figure } from '../figure'
import type { Ground } from './ground'
import { type Run, runReader } from './reader'

const yardstick = 'viem getLogs + decode, nothing stored'

/** Measures the reader from an empty database until it serves. */
export async function benchBackfill(ground: Ground): Promise<{ run: Run; figures: Figure[] }> {
  const run = await runReader(ground)
  const eventsPerSecond = (1_000 * ground.chain.events) / run.tookMs
  const bench = 'backfill'
  const figures: Figure[] = [
    {
      bench,
      name: yardstick,
      value: ground.loop.eventsPerSecond,
      unit: 'events/s',
      note: `${ground.chain.events} events, ${ground.chain.blocks} blocks`,
    },
    {
      bench,
      name: 'indexer-reader, process start to serving',
      value: eventsPerSecond,
      unit: 'events/s',
      ...against(eventsPerSecond, ground.loop.eventsPerSecond, 'viem loop'),
      aim: { of: 'ratio', bound: 'at least', limit: 0.8 },
    },
    {
      bench,
      name: 'indexer-reader, peak memory',
      value: run.peakMb,
      unit: 'MB',
      aim: { of: 'value', bound: 'at most', limit: 120 },
    },
  ]
  return { run, figures }
}
