import { countDead } from '#shared/db/dead-letter.store'
import { listingAgeMs } from '#shared/db/listing.store'
import type { Database } from '#shared/db/open'
import { outboxLag } from '#shared/db/outbox.store'
import { countStates } from './activity.store.ts'
import { countAnomalies } from './anomaly.store.ts'
import { deadLetters, listings, outbox } from './schema.store.ts'

/** The true figures of this service, for `nats micro stats payouts`. */
export async function readStats(database: Database): Promise<Record<string, unknown>> {
  const [cashouts, lag, dead, anomalies, listAgeMs] = await Promise.all([
    countStates(database),
    outboxLag(database, outbox),
    countDead(database, deadLetters),
    countAnomalies(database),
    listingAgeMs(database, listings),
  ])
  const waiting = { outboxWaiting: lag.waiting, outboxOldestMs: lag.oldestMs }
  return { ...cashouts, ...waiting, deadLetters: dead, anomalies, listAgeMs }
}
