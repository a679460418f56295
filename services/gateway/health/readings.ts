import { each, gauge, type Reading } from '#shared/metrics/readings'
import { messagingReadings, stateReadings } from '#shared/metrics/standing'
import { limits } from '../identity/identity'
import type { StreamFigures } from './streams'

/** The gateway's own figures: what waits, what died, whose flag is awaited, how full streams are. */
export type GatewayFigures = {
  outbox: { waiting: number; oldestMs: number | null }
  deadLetters: number
  identities: { awaited: number; failed: number; oldestMs: Record<string, number> }
  identityRechecks: { unanswered: number }
  streams: Record<string, StreamFigures>
}

/** The figures as `/metrics` shows them. */
export const readings = (figures: GatewayFigures): Reading[] => {
  const { outbox, deadLetters, identities, identityRechecks, streams } = figures
  return [
    ...messagingReadings({ ...outbox, dead: deadLetters }),
    ...stateReadings(limits, identities.oldestMs),
    gauge(
      'identities_awaited',
      'People whose verdict is not on the chain yet.',
      identities.awaited,
    ),
    gauge('identities_failed', 'People whose verdict the chain refused.', identities.failed),
    gauge(
      'identity_rechecks_unanswered',
      'People about whom the identity provider did not answer.',
      identityRechecks.unanswered,
    ),
    ...each(streams, 'stream', ({ bytes }, labels) =>
      gauge('stream_bytes', 'What a stream of JetStream holds.', bytes, labels),
    ),
    ...each(streams, 'stream', ({ bytesMax }, labels) =>
      gauge('stream_limit_bytes', 'What it may hold; then it refuses.', bytesMax, labels),
    ),
  ]
}
