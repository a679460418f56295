import { each, gauge, type Reading, seconds } from '#shared/metrics/readings'
import type { BooksFigures } from './watch'

/**
 * The figures of the books as `/metrics` shows them; amounts in the smallest unit of their asset. Exact sums
 * are the books' own: these are for the eye, and exact below 2^53.
 */
export const readings = ({ breaks, value, run }: BooksFigures): Reading[] => [
  gauge('books_breaks', 'Differences that were found.', breaks.open, { standing: 'open' }),
  gauge('books_breaks', 'Differences that were found.', breaks.beyondGrace, {
    standing: 'beyond_grace',
  }),
  seconds(
    'books_breaks_oldest_age',
    'Age of the oldest of them; 0: there is none.',
    breaks.oldestMs,
  ),
  ...each(value, 'asset', ({ agrees }, labels) =>
    gauge('books_agrees_minor', 'Value that rows, chain and provider agree on.', agrees, labels),
  ),
  ...each(value, 'asset', ({ differs }, labels) =>
    gauge('books_differs_minor', 'Value that they do not agree on.', differs, labels),
  ),
  seconds(
    'books_run_age',
    'Since the last comparison; absent: there was none.',
    run.ageMs < 0 ? null : run.ageMs,
  ),
  seconds('books_run_duration', 'How long it took.', run.tookMs),
  gauge('books_run_items', 'Items that it compared.', run.items),
  gauge('books_readable', 'Whether chain and provider could be read in it.', run.readable),
]
