import type { Clock } from '#platform/clock'
import type { Database } from '#platform/db/open'
import type { Log } from '#platform/log'
import { idle, startLoop } from '#platform/loop'
import type { ProviderAccount } from '#shared/money/pair'
import {
  giveBackListing,
  type ListingKey,
  type ListingTable,
  type ListingWindow,
  leaseListing,
  listingWindows,
  recordFailed,
  recordWhole,
} from '#shared/provider/listing.store'
import { type Listed, lacksTransactionRead } from '#shared/provider/transactions'

// The list shows the provider's record of our payments and payouts, even if a webhook never came or the broker lost it.
// It is read in three windows: the last minutes continuously (optional), the last days often, and rarely the whole
// period in which money may still be reversed.

export type Listing = {
  readonly database: Database
  readonly listings: ListingTable
  readonly accounts: readonly ProviderAccount[]
  readonly list: (account: ProviderAccount, updatedFrom: Date) => Promise<readonly Listed[]>
  /** Returns the start of our oldest item, since the account may have been used before, or null if we have none. */
  readonly oldest?: () => Promise<Date | null>
  /**
   * Returns the rows whose content is recorded. Every other row is received again at each reading, so that a wrong
   * answer about it is corrected.
   */
  readonly done: (account: ProviderAccount, rows: readonly Listed[]) => Promise<Set<Listed>>
  /** Receives a row. Throws if the object that the row names cannot be fetched, which makes the read incomplete. */
  readonly receive: (account: ProviderAccount, row: Listed) => Promise<void>
  readonly clock: Clock
  readonly log: Log
}

export type ListingSettings = {
  /**
   * Window `latest` in ms: its interval, and how far it reaches back behind the last read. Without them it is not read.
   */
  readonly providerListLatestEveryMs?: number
  readonly providerListLatestMs?: number
  /** Window `recent` in ms, with the same two times. */
  readonly listEveryMs: number
  readonly providerListRecentMs: number
  /** Window `whole` in ms, with the same two times. */
  readonly providerListWholeEveryMs: number
  readonly providerListWholeMs: number
}

const tickMaxMs = 30_000
/** Margin in ms for a difference between the provider's clock and ours. */
const beforeOldestMs = 86_400_000
/** Number of consecutive failed reads after which the log line becomes an alarm. */
const failuresMax = 5

/** Reads at the configured intervals until disposed. Calls `poke` after each read. */
export const startReadingList = (listing: Listing, settings: ListingSettings, poke: () => void): AsyncDisposable => {
  // A loop per window, because a read of the whole window may take an hour.
  const loops = listingWindows.flatMap((window) => {
    const everyMs = timesOf(settings, window)?.everyMs
    if (everyMs === undefined) return []
    const work = async (signal: AbortSignal) => {
      const readings: Reading[] = []
      for (const account of listing.accounts) {
        const reading = await readWindow(listing, settings, { account, window }, signal)
        if (reading !== 'not due') poke()
        readings.push(reading)
      }
      return readings.every((one) => one === 'whole') ? idle : undefined
    }
    const tickMs = Math.min(tickMaxMs, Math.max(200, everyMs / 5))
    const name = `${window} transactions`
    return [startLoop({ name, everyMs: tickMs, idleMs: everyMs, log: listing.log, work })]
  })
  return {
    [Symbol.asyncDispose]: async () => {
      await Promise.all(loops.map((loop) => loop[Symbol.asyncDispose]()))
    },
  }
}

function timesOf(settings: ListingSettings, window: ListingWindow) {
  const { providerListLatestEveryMs, providerListLatestMs } = settings
  switch (window) {
    case 'latest':
      if (!providerListLatestEveryMs || !providerListLatestMs) return undefined
      return { everyMs: providerListLatestEveryMs, backMs: providerListLatestMs }
    case 'recent':
      return { everyMs: settings.listEveryMs, backMs: settings.providerListRecentMs }
    case 'whole':
      return { everyMs: settings.providerListWholeEveryMs, backMs: settings.providerListWholeMs }
  }
}

/**
 * Result of a reading. `not due` is also returned if another instance is reading. `failed` is incomplete, logged, and
 * repeated.
 */
export type Reading = 'not due' | 'whole' | 'failed'

export async function readWindow(
  listing: Listing,
  settings: ListingSettings,
  key: ListingKey,
  signal?: AbortSignal,
): Promise<Reading> {
  const times = timesOf(settings, key.window)
  if (!times) return 'not due'
  const { everyMs, backMs } = times
  const { database, listings, clock, log } = listing
  if (signal?.aborted) return 'not due'
  const lease = await leaseListing(database, listings, key, everyMs)
  if (!lease) return 'not due'
  const oldest = await listing.oldest?.()
  if (oldest === null) return 'whole'
  const { beganAt, readAt } = lease
  // The window begins before the last complete read, however many have failed since.
  const lastMs = Math.min(clock(), readAt?.getTime() ?? clock())
  const from = Math.max(lastMs - backMs, (oldest?.getTime() ?? 0) - beforeOldestMs)
  try {
    await receiveListed(listing, key.account, new Date(from), signal)
    await recordWhole(database, listings, key, { beganAt, everyMs })
    return 'whole'
  } catch (error) {
    if (signal?.aborted) {
      await giveBackListing(database, listings, key)
      return 'failed'
    }
    const failures = await recordFailed(database, listings, key, everyMs)
    // The window `latest` raises no alarm, because its items are rechecked one by one and the other windows fail too.
    const isAlarm = key.window !== 'latest' && failures >= failuresMax
    const lacks = lacksTransactionRead(error) ? { permission: 'Transaction Read' } : {}
    const fields = { ...key, failures, err: error, ...lacks }
    log[isAlarm ? 'alarm' : 'warn'](fields, 'provider transaction list incomplete')
    return 'failed'
  }
}

/** Receives every row that changed since `updatedFrom`. Throws if the list cannot be read, or as `receiveRows` does. */
export async function receiveListed(
  listing: Listing,
  account: ProviderAccount,
  updatedFrom: Date,
  signal?: AbortSignal,
): Promise<void> {
  await receiveRows(listing, account, await listing.list(account, updatedFrom), signal)
}

/** Receives rows. Throws if an object that a row names could not be fetched, after all other rows are received. */
export async function receiveRows(
  listing: Listing,
  account: ProviderAccount,
  rows: readonly Listed[],
  signal?: AbortSignal,
): Promise<void> {
  const done = await listing.done(account, rows)
  const faults: unknown[] = []
  // Refunds and disputes come before their charge, so that no order is given for one that is gone.
  const ordered = rows.toSorted((a, b) => Number(a.type === 'payment') - Number(b.type === 'payment'))
  for (const row of ordered) {
    signal?.throwIfAborted()
    if (!done.has(row)) await listing.receive(account, row).catch((error) => faults.push(error))
  }
  if (faults.length > 0)
    throw new AggregateError(faults, `${faults.length} rows of the transaction list could not be processed`)
}
