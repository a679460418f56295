import { type Msg, RequestStrategy } from 'nats'
import type { Bus } from '#shared/bus/open'
import { within } from '#shared/deadline'
import { type ProcessName, serviceNames } from '#shared/messages/topic'
import { answererHeaders, metricsSubject } from '#shared/metrics/answer'

/** What one copy of a process measures, in Prometheus' text format. */
export type Gathered = {
  readonly service: ProcessName
  readonly copy: string
  readonly text: string
}

/** Prometheus waits 10 s for all of it. */
const gatherMs = 2_000
/** Copies of a service answer together: once every service was heard, so much silence is the end. */
const quietMs = 100

/**
 * Asks every copy of every process but this one; whoever does not answer in time is missing from the
 * list. Throws when there is no bus to ask by.
 */
export async function gatherMetrics({ nc, copy }: Bus): Promise<Gathered[]> {
  const asked = { strategy: RequestStrategy.Timer, maxWait: gatherMs }
  const replies = (await nc.requestMany(metricsSubject, undefined, asked))[Symbol.asyncIterator]()
  const silent = new Set<ProcessName>(serviceNames)
  const gathered: Gathered[] = []
  for (;;) {
    const patienceMs = silent.size === 0 ? quietMs : gatherMs
    const reply = await within(replies.next(), patienceMs, 'the next').catch(() => undefined)
    if (!reply || reply.done) return gathered
    const one = answerOf(reply.value)
    silent.delete(one.service)
    if (one.copy !== copy) gathered.push(one)
  }
}

const answerOf = (message: Msg): Gathered => ({
  service: message.headers?.get(answererHeaders.process) as ProcessName,
  copy: message.headers?.get(answererHeaders.copy) ?? '',
  text: new TextDecoder().decode(Bun.gunzipSync(new Uint8Array(message.data))),
})
