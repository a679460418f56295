import type { DownInstance } from '#platform/bus/instances'
import { mergeExpositions } from '#platform/metrics/exposition'
import { gauge, type Metric, textOf } from '#platform/metrics/metric'
import { type ProcessName, processNames, serviceNames } from '#shared/messages/topic'
import type { CollectedMetrics } from './collect'

/** Returns the metrics of all processes. `others` is undefined if the bus is down, so that their state is unknown. */
export async function metricsText(
  own: string,
  others: CollectedMetrics[] | undefined,
  down: readonly DownInstance[],
): Promise<string> {
  const known = await textOf(presenceOf(others, down))
  return mergeExpositions([known, own, ...(others ?? []).map(({ text }) => text)])
}

/** Returns the presence of each service. A missing service is 0, never omitted. */
function presenceOf(others: readonly CollectedMetrics[] | undefined, down: readonly DownInstance[]): Metric[] {
  const asked = '1 if the other processes could be asked; 0 if their state is unknown.'
  if (!others) return [gauge('services_asked', asked, 0)]
  const copiesOf = (name: ProcessName) =>
    others.filter(({ service }) => service === name).length + (name === 'gateway' ? 1 : 0)
  return [
    gauge('services_asked', asked, 1),
    ...processNames.flatMap((service) => [
      gauge('service_up', '1 if any instance responded.', copiesOf(service) > 0 ? 1 : 0, {
        service,
      }),
      gauge('service_copies', 'Instances that responded.', copiesOf(service), { service }),
    ]),
    ...serviceNames.map((service) => {
      const count = down.filter((copy) => copy.service === service).length
      return gauge('service_copies_down', 'Instances that did not shut down cleanly and do not respond.', count, {
        service,
      })
    }),
  ]
}
