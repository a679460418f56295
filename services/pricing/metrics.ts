import { each, gauge, type Metric, seconds } from '#platform/metrics/metric'
import type { RateCache } from './rate-cache'

type Figures = ReturnType<RateCache['figures']>

/** Metrics of the rates, which are numbers for display; quotes never use them. */
export const metricsOf = (figures: Figures): Metric[] => [
  ...each(figures, 'pair', (figure, labels) =>
    gauge('rate_usable', '1 if there is a rate to quote.', 'rate' in figure ? 1 : 0, labels),
  ),
  ...each(figures, 'pair', (figure, labels) =>
    gauge(
      'rate_doubtful',
      '1 if the rate has no cross-check or the sources differ, so that no cash-out gets it.',
      'rate' in figure ? (figure.warnings.length > 0 ? 1 : 0) : null,
      labels,
    ),
  ),
  ...each(figures, 'pair', (figure, labels) =>
    seconds('rate_age', "Age of the rate by the source's own date.", 'rate' in figure ? figure.ageMs : null, labels),
  ),
  ...each(figures, 'pair', (figure, labels) =>
    gauge(
      'rate_minor_per_usd',
      'Quoted rate, in minor units of the local currency per US dollar.',
      'rate' in figure ? Number(figure.rate) : null,
      labels,
    ),
  ),
  ...each(figures, 'pair', (figure, labels) => {
    const bps = 'rate' in figure ? figure.deviationBps : null
    const help = 'Difference between the rate sources, as a ratio.'
    return gauge('rate_deviation_ratio', help, bps === null ? null : bps / 10_000, labels)
  }),
]
