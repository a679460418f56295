import type { Msg } from 'nats'
import { askEverybody } from '#platform/bus/instances'
import type { Bus } from '#platform/bus/open'
import { answererHeaders, metricsSubject } from '#platform/metrics/answer'
import type { ProcessName } from '#shared/messages/topic'

/** Prometheus text of one instance. */
export type CollectedMetrics = {
  readonly service: ProcessName
  readonly copy: string
  readonly text: string
}

/** Omits silent instances. Throws if not even this one responds: the bus is down. */
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
