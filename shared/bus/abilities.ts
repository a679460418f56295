import { ErrorCode, type NatsError, RequestStrategy } from 'nats'
import type { Bus } from '#shared/bus/open'
import type { Clock } from '#shared/clock'
import type { Log } from '#shared/log'
import { type Loop, startLoop } from '#shared/loop'
import type { ServiceName } from '#shared/messages/topic'

// During a rolling upgrade, old and new instances work on the same rows. Data that the old version
// would misread must not be written until its last instance is gone.

const everyMs = 3_000
/** A busy instance may miss several polls, so one that was seen counts for this long. */
const rememberMs = 60_000
/** Every live instance responds within this, even on a busy machine. */
const lookMs = 1_500

/**
 * Whether all instances of a service have a capability, polled every 3 s. False until an
 * instance has responded.
 */
export type Abilities = Loop & { readonly allCan: () => boolean }

/**
 * Polls the services API: true if every instance seen within the last minute advertises the
 * ability. Older versions advertise none.
 */
export function watchAbility(
  bus: Bus,
  service: ServiceName,
  ability: string,
  { log, clock }: { readonly log: Log; readonly clock: Clock },
): Abilities {
  let looked = false
  let lackedAt = Number.NEGATIVE_INFINITY
  const allCan = () => looked && clock() - lackedAt > rememberMs
  const look = async () => {
    const could = allCan()
    const client = bus.nc.services.client({ strategy: RequestStrategy.Timer, maxWait: lookMs })
    try {
      for await (const { metadata } of await client.ping(service)) {
        if (!metadata?.abilities?.split(' ').includes(ability)) lackedAt = clock()
        looked = true
      }
    } catch (error) {
      if ((error as NatsError).code !== ErrorCode.NoResponders) throw error
    }
    if (could !== allCan()) log.info({ ability, allCan: allCan() }, 'instance capabilities changed')
  }
  const loop = startLoop({ name: 'capability poll', everyMs, log, work: look })
  return { ...loop, allCan }
}
