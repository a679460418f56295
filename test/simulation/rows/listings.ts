import { leaseMaxMs } from '#shared/provider/listing.store'
import { type ListingRow, rowsOf } from './rows'
import { FromNow, isOver, nothing, type StandIn } from './table'

type Listings = typeof import('#shared/provider/listing.store')
type Lock = typeof import('#platform/db/lock')

const listingWindows = ['latest', 'recent', 'whole'] as const
const keyOf = ({ account, window }: { account: string; window: string }) => `${account} ${window}`

export const leaseListing: StandIn<Listings['leaseListing']> = (database, table, key, everyMs) =>
  database.run(async (db) => {
    const rows = rowsOf(db)
    const listings = rows.of<ListingRow>(table)
    const now = rows.clock()
    const known = listings.get(keyOf(key))
    if (known && !isOver(known.dueAt, everyMs, now)) return undefined
    const dueAt = now + Math.min(everyMs, leaseMaxMs)
    listings.set(keyOf(key), { dueAt, readAt: known?.readAt ?? null })
    return { beganAt: new Date(now), readAt: known?.readAt ?? null }
  })

export const recordWhole: StandIn<Listings['recordWhole']> = (database, table, key, noted) =>
  database.run(async (db) => {
    const { beganAt, everyMs } = noted
    const row = { readAt: beganAt, dueAt: beganAt.getTime() + everyMs }
    rowsOf(db).of<ListingRow>(table).set(keyOf(key), row)
    return nothing
  })

const retryMs = 60_000

export const recordFailed: StandIn<Listings['recordFailed']> = (database, table, key, everyMs) =>
  database.run(async (db) => {
    const rows = rowsOf(db)
    const dueAt = rows.clock() + Math.min(everyMs, retryMs)
    rows.of<ListingRow>(table).update(keyOf(key), { dueAt })
    return 1
  })

export const giveBackListing: StandIn<Listings['giveBackListing']> = (database, table, key) =>
  database.run(async (db) => {
    const rows = rowsOf(db)
    rows.of<ListingRow>(table).update(keyOf(key), { dueAt: rows.clock() })
    return nothing
  })

export const findListed: StandIn<Listings['findListed']> = (database, table, window, withinMs) =>
  database.read(async (db) => {
    const rows = rowsOf(db)
    const since = rows.clock() - withinMs
    const accounts = ['ID', 'MY'] as const
    return accounts.filter((account) => {
      const readAt = rows.of<ListingRow>(table).get(keyOf({ account, window }))?.readAt
      return !!readAt && readAt.getTime() > since && readAt.getTime() <= rows.clock()
    })
  })

export const lastReadAt: StandIn<Listings['lastReadAt']> = async (db, table, account) => {
  const rows = rowsOf(db)
  const times = listingWindows
    .map((window) => rows.of<ListingRow>(table).get(keyOf({ account, window }))?.readAt?.getTime())
    .filter((time) => time !== undefined && time <= rows.clock())
  return times.length === 0 ? null : new Date(Math.max(...(times as number[])))
}

export const lockNamed: StandIn<Lock['lockNamed']> = () => nothing
export const unlockBeforeSync: StandIn<Lock['unlockBeforeSync']> = () => nothing

export const fromNow = (ms: number): unknown => new FromNow(ms)
