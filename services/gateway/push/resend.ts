import { NatsError } from 'nats'
import type { Bus } from '#platform/bus/open'
import { type Handler, handler } from '#platform/bus/serve'
import type { Log } from '#platform/log'
import { integratorTopics } from '#shared/messages/catalogue'
import { EventResend } from '#shared/messages/events'
import { ok } from '#shared/refusals'
import type { StoredEvent } from './event'
import type { Push } from './push'

/** Sends an event again for an operator, who learns what the integrator's server answered. */
export const answerResend = (push: Push | undefined, bus: Pick<Bus, 'nc'>, log: Log): Handler =>
  handler(EventResend, async ({ sequence, command }) => {
    if (!push) return ok({ refused: 'EVENTS_URL is not set: events are not sent by HTTP' })
    const event = await findEvent(bus, sequence).catch((error: Error) => {
      const isMissing = error instanceof NatsError && error.api_error?.code === 404
      const why = isMissing ? 'is not stored; events are kept for 30 days' : `cannot be read: ${error.message}`
      return { refused: `event ${sequence} ${why}` }
    })
    if ('refused' in event) return ok(event)
    // The outcomes of the relayer's orders are on the same stream.
    if (!integratorTopics.some(({ subject }) => subject === event.subject))
      return ok({ refused: `${sequence} is ${event.subject}, which is not for the integrator` })
    const called = await push.send(event)
    log.info({ sequence, type: event.subject, messageId: event.messageId, command, ...called }, 'event resent')
    return ok(
      called.taken
        ? { done: `${event.subject} ${sequence} was taken by the integrator` }
        : { refused: `${event.subject} ${sequence} was not taken: ${called.why}` },
    )
  })

const findDeadlineMs = 2_000

/** Returns an event of the stream. Throws if there is none, or NATS cannot be reached. */
async function findEvent({ nc }: Pick<Bus, 'nc'>, sequence: number): Promise<StoredEvent> {
  const manager = await nc.jetstreamManager({ checkAPI: false, timeout: findDeadlineMs })
  const message = await manager.streams.getMessage('EVENTS', { seq: sequence })
  return {
    subject: message.subject,
    seq: message.seq,
    messageId: message.header.get('Nats-Msg-Id'),
    storedAt: message.time,
    payload: message.string(),
  }
}
