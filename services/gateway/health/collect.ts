import type { Msg } from 'nats'
import { askEverybody } from '#platform/bus/instances'
import type { Bus } from '#platform/bus/open'
import { answererHeaders, metricsSubject } from '#platform/metrics/answer'
import type { ProcessName } from '#shared/messages/topic'

/** Metrics of one instance, in Prometheus text format. */
export type CollectedMetrics = {
  readonly service: ProcessName
  readonly copy: string
  readonly text: string
}

/**
 * Collects the metrics of all other instances that respond. Throws if not even this one responds, because the
 * bus is then down.
 */
export async function collectMetrics(bus: Bus): Promise<CollectedMetrics[]> {
  const collected = await askEverybody(bus, metricsSubject, (reply) => {
    const answer = answerOf(reply)
    return { from: answer.service, answer }
  })
  if (collected.length === 0) throw new Error('the bus does not answer')
  return collected.filter(({ copy }) => copy !== bus.copy)
}

const answerOf = (message: Msg): CollectedMetrics => ({
  service: message.headers?.get(answererHeaders.process) as ProcessName,
  copy: message.headers?.get(answererHeaders.copy) ?? '',
  text: new TextDecoder().decode(Bun.gunzipSync(new Uint8Array(message.data))),
})
