import type { Clock } from '#shared/clock'
import { claim, claimAll, type InboxTable } from '#shared/db/inbox.store'
import {
  findDone,
  giveBackListing,
  type ListingKey,
  type ListingTable,
  type ListingWindow,
  leaseListing,
  listingWindows,
  noteFailed,
  noteWhole,
} from '#shared/db/listing.store'
import type { Database, Tx } from '#shared/db/open'
import type { Log } from '#shared/log'
import { idle, startLoop } from '#shared/loop'
import type { ProviderAccount } from '#shared/money/pair'
import { type Listed, lacksTransactionRead } from '#shared/provider/transactions'

// The provider's list of transactions says what it holds of ours, whether or not a webhook came or
// the broker lost it. It is read in windows: the last minutes all the time, where that is asked for,
// the last days often, and rarely the whole time in which money may still be taken back.

/** Does the work of a row in one transaction, unless another copy has done it. */
export type Once = (work: (tx: Tx) => Promise<unknown>) => Promise<void>

/** What a service reads of the list, and how. */
export type Listing = {
  readonly database: Database
  readonly listings: ListingTable
  readonly inbox: InboxTable
  /** The name of the rows' consumer in the inbox. */
  readonly consumer: string
  readonly accounts: readonly ProviderAccount[]
  readonly list: (account: ProviderAccount, updatedFrom: Date) => Promise<readonly Listed[]>
  /** Nothing of ours is older, whatever the account was used for before. Null: we have nothing. */
  readonly oldest?: () => Promise<Date | null>
  /** Those that say only what is counted already: nothing is received of them any more. */
  readonly counted?: (account: ProviderAccount, rows: readonly Listed[]) => Promise<Set<Listed>>
  /**
   * Receives a row, for good when it calls `once`; otherwise the next reading has it again.
   * Throws when what the row names cannot be asked for: then the reading was not whole.
   */
  readonly receive: (account: ProviderAccount, row: Listed, once: Once) => Promise<void>
  readonly clock: Clock
  readonly log: Log
}

export type ListingSettings = {
  /**
   * How often the last minutes are read, and how far back they reach behind the last reading; ms.
   * Left out: they are not.
   */
  readonly listLatestEveryMs?: number
  readonly listLatestMs?: number
  /** How often the recent window is read, and how far back it reaches behind the last reading; ms. */
  readonly listEveryMs: number
  readonly listRecentMs: number
  /** The same for the time in which money may go back. */
  readonly listWholeEveryMs: number
  readonly listWholeMs: number
}

const tickMaxMs = 30_000
/** The provider's clock and ours may differ. */
const beforeOldestMs = 86_400_000
/** When a copy dies while it reads, another takes over after this at the latest. */
const leaseMaxMs = 600_000
/** After so many failed readings in a row, the log line is an alarm. */
const failuresMax = 5

/** Reads the list as often as configured, until disposed. `poke` is called after each reading. */
export const startReadingList = (
  listing: Listing,
  settings: ListingSettings,
  poke: () => void,
): AsyncDisposable => {
  // A loop for each window, because a whole reading may take an hour.
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

/** How often a window is read and how far back, in ms; undefined for one that is not read. */
function timesOf(settings: ListingSettings, window: ListingWindow) {
  const { listLatestEveryMs, listLatestMs } = settings
  switch (window) {
    case 'latest':
      if (!listLatestEveryMs || !listLatestMs) return undefined
      return { everyMs: listLatestEveryMs, backMs: listLatestMs }
    case 'recent':
      return { everyMs: settings.listEveryMs, backMs: settings.listRecentMs }
    case 'whole':
      return { everyMs: settings.listWholeEveryMs, backMs: settings.listWholeMs }
  }
}

/** `not due`: or another copy reads it now. `failed`: not whole, and logged; it is repeated. */
export type Reading = 'not due' | 'whole' | 'failed'

/** Reads a window of the list of an account, if that is due. */
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
  const lease = await leaseListing(database, listings, key, Math.min(everyMs, leaseMaxMs))
  if (!lease) return 'not due'
  const oldest = await listing.oldest?.()
  if (oldest === null) return 'whole' // There is nothing in it.
  const { beganAt, readAt } = lease
  // The window begins before the last whole reading, however many failed since.
  const lastMs = Math.min(clock(), readAt?.getTime() ?? clock())
  const from = Math.max(lastMs - backMs, (oldest?.getTime() ?? 0) - beforeOldestMs)
  try {
    await receiveListed(listing, key.account, new Date(from), signal)
    await noteWhole(database, listings, key, { beganAt, everyMs })
    return 'whole'
  } catch (error) {
    if (signal?.aborted) {
      await giveBackListing(database, listings, key)
      return 'failed'
    }
    const failures = await noteFailed(database, listings, key, everyMs)
    // What the last minutes show is asked for one by one meanwhile; the other readings fail as well.
    const alarm = key.window !== 'latest' && failures >= failuresMax
    const lacks = lacksTransactionRead(error) ? { permission: 'Transaction Read' } : {}
    const fields = { ...key, failures, err: error, alarm, ...lacks }
    log[alarm ? 'error' : 'warn'](fields, 'list of transactions could not be read whole')
    return 'failed'
  }
}

/**
 * Receives every row that changed since then. Throws when the list, or what any of its rows names,
 * could not be asked for. The other rows are received all the same, and what was received is not
 * asked for again.
 */
export async function receiveListed(
  listing: Listing,
  account: ProviderAccount,
  updatedFrom: Date,
  signal?: AbortSignal,
): Promise<void> {
  const { database, inbox, consumer } = listing
  const rows = await listing.list(account, updatedFrom)
  const idsOf = (some: Iterable<Listed>) => [...some].map((row) => idOf(account, row))
  const done = await findDone(database, inbox, consumer, idsOf(rows))
  const open = rows.filter((row) => !done.has(idOf(account, row)))
  const counted = await listing.counted?.(account, open)
  if (counted?.size) await claimAll(database, inbox, consumer, idsOf(counted))
  const faults: unknown[] = []
  for (const row of open) {
    signal?.throwIfAborted()
    if (counted?.has(row)) continue
    const id = idOf(account, row)
    const once: Once = (work) =>
      database.transaction(async (tx) => {
        if (await claim(tx, inbox, consumer, id)) await work(tx)
      })
    await listing.receive(account, row, once).catch((error) => faults.push(error))
  }
  if (faults.length > 0)
    throw new AggregateError(faults, `${faults.length} rows of the list could not be received`)
}

/** A row that changed in any way is another one, and is received anew. */
const idOf = (account: ProviderAccount, row: Listed) =>
  [
    ...[account, row.transactionId, row.status, row.amountMinor],
    row.updated?.toISOString() ?? '',
  ].join(':')
