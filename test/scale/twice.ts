import type { Stack } from '#infra/local/stack'
import { findInstances, instanceSubject } from '#platform/bus/instances'
import { openBus } from '#platform/bus/open'
import { openLog } from '#platform/log'
import type { AnswerOf, Question, RequestOf } from '#shared/messages/topic'

const deadlineMs = 10_000

/** Sends a request to each instance at once, outside of the queue group, as admin. */
export async function askEveryCopy<Q extends Question>(
  { info }: Stack,
  question: Q,
  request: RequestOf<Q>,
): Promise<AnswerOf<Q>[]> {
  const { user, password } = info.nats.admin
  const log = openLog('gateway', 'silent')
  const onFatal = () => {}
  await using bus = await openBus({ url: info.nats.url, user, password, name: user, log, onFatal })
  const { owner, subject } = question
  const copies = await findInstances(bus, owner, { withinMs: 1_000 })
  const asked = copies.map(({ copy }) =>
    bus.nc.request(instanceSubject(owner, copy, subject), JSON.stringify(request), {
      timeout: deadlineMs,
    }),
  )
  return (await Promise.all(asked)).map((reply) => reply.json<AnswerOf<Q>>())
}
