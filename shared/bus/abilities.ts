import { RequestStrategy } from 'nats'
import type { Bus } from '#shared/bus/open'
import type { Clock } from '#shared/clock'
import type { Log } from '#shared/log'
import { type Loop, startLoop } from '#shared/loop'
import type { ServiceName } from '#shared/messages/topic'

// While a new version takes the place of an earlier one, copies of both work on the same rows. What the
// earlier one would misread must not be written before the last of its copies is gone.

const everyMs = 3_000
/** A copy that is busy may miss several looks: one that was seen counts for so long. */
const rememberMs = 60_000
/** All that live answer within this, also on a busy machine. */
const lookMs = 1_500

/** Whether all copies of a service have an ability; looked for every 3 s. Not before the first look. */
export type Abilities = Loop & { readonly allCan: () => boolean }

/**
 * Looks whether every copy of the service that is there, or was within the last minute, says of itself
 * by the services API that it has the ability. A copy of before says nothing.
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
    for await (const { metadata } of await client.ping(service))
      if (!metadata?.abilities?.split(' ').includes(ability)) lackedAt = clock()
    looked = true
    if (could !== allCan()) log.info({ ability, allCan: allCan() }, 'copies were looked for')
  }
  const loop = startLoop({ name: 'looking for earlier versions', everyMs, log, work: look })
  return { ...loop, allCan }
}
