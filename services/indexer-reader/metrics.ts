import { gauge, type Metric, seconds, total } from '#platform/metrics/metric'
import { rpcReadings } from '#shared/chain/rpc-readings'
import type { readStats } from './record'

type Figures = Awaited<ReturnType<typeof readStats>>

export const metricsOf = (figures: Figures): Metric[] => [
  gauge('record_answers', '1 if record requests are answered.', figures.answers ? 1 : 0),
  seconds('record_lag', 'Lag of the record behind the chain.', figures.lagMs),
  gauge('record_lag_blocks', 'Lag of the record behind the chain, in blocks.', figures.lagBlocks),
  gauge('record_block', 'Last block of the record.', figures.cursor),
  gauge('record_events', 'Events in the record.', figures.events),
  gauge('record_generation', 'Serving generation; a rebuild starts the next one.', figures.generation),
  gauge('record_rebuilding', '1 while a rebuild is in progress.', figures.filling ? 1 : 0),
  gauge('chain_finalized_block', 'Last finalized block seen.', figures.finalized),
  total('record_incomplete', 'Answers of endpoints that lacked events.', figures.incomplete),
  ...rpcReadings(figures.rpc),
]
