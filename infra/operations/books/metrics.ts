import { each, gauge, type Metric, seconds } from '#platform/metrics/metric'
import type { BooksFigures } from './reconciliation'

/** Metrics of the books. As floats they are exact only below 2^53; the books have exact sums. */
export const booksMetrics = ({ breaks, value, run }: BooksFigures): Metric[] => [
  gauge('books_breaks', 'Open reconciliation breaks.', breaks.open, { standing: 'open' }),
  gauge('books_breaks', 'Open reconciliation breaks.', breaks.beyondGrace, {
    standing: 'beyond_grace',
  }),
  seconds('books_breaks_oldest_age', 'Age of the oldest open break; 0 if none.', breaks.oldestMs),
  ...each(value, 'asset', ({ agrees }, labels) =>
    gauge('books_agrees_minor', 'Reconciled value, in minor units of the asset.', agrees, labels),
  ),
  ...each(value, 'asset', ({ differs }, labels) =>
    gauge('books_differs_minor', 'Value of items with a break, in minor units.', differs, labels),
  ),
  seconds(
    'books_run_age',
    'Age of the last reconciliation; absent if there was none.',
    run.ageMs < 0 ? null : run.ageMs,
  ),
  seconds('books_run_duration', 'Duration of the last reconciliation.', run.tookMs),
  gauge('books_run_items', 'Items compared by the last reconciliation.', run.items),
  gauge('books_readable', '1 if the last one could read chain and provider.', run.readable),
]
