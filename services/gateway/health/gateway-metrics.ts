import { each, gauge, type Metric, messagingReadings } from '#platform/metrics/metric'
import { stateReadings } from '#platform/metrics/state-limits'
import { limits } from '../identity/identity'
import type { StreamFigures } from './streams'

export type GatewayFigures = {
  outbox: { waiting: number; oldestMs: number | null }
  deadLetters: number
  identities: { awaited: number; failed: number; oldestMs: Record<string, number> }
  identityRechecks: { unanswered: number }
  streams: Record<string, StreamFigures>
}

export const gatewayMetrics = (figures: GatewayFigures): Metric[] => {
  const { outbox, deadLetters, identities, identityRechecks, streams } = figures
  return [
    ...messagingReadings({ ...outbox, dead: deadLetters }),
    ...stateReadings(limits, identities.oldestMs),
    gauge('identities_awaited', 'Users whose verdict is not on the chain yet.', identities.awaited),
    gauge('identities_failed', 'Users whose verdict the chain refused.', identities.failed),
    gauge(
      'identity_rechecks_unanswered',
      'Users whose last identity recheck got no answer.',
      identityRechecks.unanswered,
    ),
    ...each(streams, 'stream', ({ bytes }, labels) =>
      gauge('stream_bytes', 'Size of a JetStream stream, in bytes.', bytes, labels),
    ),
    ...each(streams, 'stream', ({ bytesMax }, labels) =>
      gauge('stream_limit_bytes', 'Size limit of a JetStream stream, in bytes.', bytesMax, labels),
    ),
  ]
}
