import type { Msg } from 'nats'
import { askEverybody } from '#shared/bus/everybody'
import type { Bus } from '#shared/bus/open'
import { type ProcessName, serviceNames } from '#shared/messages/topic'
import { answererHeaders, metricsSubject } from '#shared/metrics/answer'

/** What one copy of a process measures, in Prometheus' text format. */
export type Gathered = {
  readonly service: ProcessName
  readonly copy: string
  readonly text: string
}

/**
 * Asks every copy of every process but this one; whoever does not answer in time is missing from the
 * list. Throws when the bus does not answer: this copy is asked with the others, so that when not even
 * it was heard, nothing is known of anybody.
 */
export async function gatherMetrics(bus: Bus): Promise<Gathered[]> {
  const gathered = await askEverybody(bus, metricsSubject, serviceNames, (reply) => {
    const answer = answerOf(reply)
    return { from: answer.service, answer }
  })
  if (gathered.length === 0) throw new Error('the bus does not answer')
  return gathered.filter(({ copy }) => copy !== bus.copy)
}

const answerOf = (message: Msg): Gathered => ({
  service: message.headers?.get(answererHeaders.process) as ProcessName,
  copy: message.headers?.get(answererHeaders.copy) ?? '',
  text: new TextDecoder().decode(Bun.gunzipSync(new Uint8Array(message.data))),
})
