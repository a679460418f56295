import { countDead } from '#shared/db/dead-letter.store'
import { listingAgeMs } from '#shared/db/listing.store'
import { outboxLag } from '#shared/db/outbox.store'
import type { Context } from './context'
import { countPayments } from './payment.store'
import { sumMissing } from './refunds/reversal.store'
import { countFrozen } from './refunds/wallet.store'
import { deadLetters, listings, outbox } from './schema.store'

/** The figures of `nats micro stats`: counts, ages in ms, amounts in 10⁻⁶ AUSD. */
export async function readStats({ database }: Context) {
  const [lag, dead, frozenWallets, missingMicro, listAgeMs, counted] = await Promise.all([
    outboxLag(database, outbox),
    countDead(database, deadLetters),
    database.read(countFrozen),
    database.read(sumMissing),
    listingAgeMs(database, listings),
    database.read(countPayments),
  ])
  const { oldestInFlightMs, ...counts } = counted
  return {
    outboxWaiting: lag.waiting,
    outboxOldestMs: lag.oldestMs,
    deadLetters: dead,
    frozenWallets,
    missingMicro,
    /** How long ago the provider's list was last read whole; null: not yet. */
    listAgeMs,
    ...counts,
    oldestInFlightMs: oldestInFlightMs === null ? null : Math.round(oldestInFlightMs),
  }
}
