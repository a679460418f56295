import { each, gauge, type Reading, seconds } from '#shared/metrics/readings'
import type { RateBoard } from './rate-board'

type Figures = ReturnType<RateBoard['figures']>

/**
 * The figures of pricing as `/metrics` shows them. The rate is for the eye: quotes never come from
 * here.
 */
export const readings = (figures: Figures): Reading[] => [
  ...each(figures, 'pair', (figure, labels) =>
    gauge('rate_usable', 'Whether there is a rate to quote.', 'rate' in figure ? 1 : 0, labels),
  ),
  ...each(figures, 'pair', (figure, labels) =>
    seconds(
      'rate_age',
      'Age of the rate at its source.',
      'rate' in figure ? figure.ageMs : null,
      labels,
    ),
  ),
  ...each(figures, 'pair', (figure, labels) =>
    gauge(
      'rate_minor_per_usd',
      'The rate quoted, in the smallest unit of the local currency.',
      'rate' in figure ? Number(figure.rate) : null,
      labels,
    ),
  ),
  ...each(figures, 'pair', (figure, labels) => {
    const bps = 'rate' in figure ? figure.deviationBps : null
    const help = 'How far the sources are apart.'
    return gauge('rate_deviation_ratio', help, bps === null ? null : bps / 10_000, labels)
  }),
]
