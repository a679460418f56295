import { type ProcessName, serviceNames } from '#shared/messages/topic'
import { merged } from '#shared/metrics/exposition'
import { gauge, type Reading, textOf } from '#shared/metrics/readings'
import type { Gathered } from './gather'
import type { DownCopy } from './roster'

/**
 * Prometheus' text of all processes: `own` of this one, `others` as they were gathered, undefined when
 * nobody could be asked. Then nothing is said of the others: that is not the same as none of them running.
 */
export async function metricsText(
  own: string,
  others: Gathered[] | undefined,
  down: readonly DownCopy[],
): Promise<string> {
  const known = await textOf(presenceOf(others, down))
  return merged([known, own, ...(others ?? []).map(({ text }) => text)])
}

/** Who answered. A service that did not is shown as 0, and never left out. */
function presenceOf(others: readonly Gathered[] | undefined, down: readonly DownCopy[]): Reading[] {
  const asked = 'Whether the other processes could be asked (1); 0: nothing is known of them.'
  if (!others) return [gauge('services_asked', asked, 0)]
  const copiesOf = (name: ProcessName) =>
    others.filter(({ service }) => service === name).length + (name === 'gateway' ? 1 : 0)
  const optional = others.some(({ service }) => service === 'books') ? (['books'] as const) : []
  return [
    gauge('services_asked', asked, 1),
    ...[...serviceNames, ...optional].flatMap((service) => [
      gauge('service_up', 'Whether any copy answered.', copiesOf(service) > 0 ? 1 : 0, { service }),
      gauge('service_copies', 'Copies that answered.', copiesOf(service), { service }),
    ]),
    ...serviceNames.map((service) => {
      const count = down.filter((copy) => copy.service === service).length
      return gauge(
        'service_copies_down',
        'Copies that did not leave in order and do not answer.',
        count,
        {
          service,
        },
      )
    }),
  ]
}
