import { rpcReadings } from '#shared/chain/rpc-readings'
import { gauge, type Reading, seconds, total } from '#shared/metrics/readings'
import type { readStats } from './record'

type Figures = Awaited<ReturnType<typeof readStats>>

/** The figures of the reader as `/metrics` shows them. */
export const readings = (figures: Figures): Reading[] => [
  gauge('record_answers', 'Whether the public record is answered for.', figures.answers ? 1 : 0),
  seconds('record_lag', 'How far the record is behind the chain.', figures.lagMs),
  gauge('record_lag_blocks', 'The same in blocks.', figures.lagBlocks),
  gauge('record_block', 'The last block of the record.', figures.cursor),
  gauge('record_events', 'Events in the record.', figures.events),
  gauge(
    'record_generation',
    'Generation that serves; a rebuild makes the next.',
    figures.generation,
  ),
  gauge('record_rebuilding', 'Whether another is being read.', figures.filling ? 1 : 0),
  gauge('chain_finalized_block', 'The last final block that was seen.', figures.finalized),
  total('record_repaired', 'Events that a first answer of a node lacked.', figures.repaired),
  total('record_disputed', 'Answers that lacked what an earlier one had.', figures.disputed),
  ...rpcReadings(figures.rpc),
]
