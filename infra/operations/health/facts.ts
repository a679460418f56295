import type { Sql } from 'postgres'
import type { Place } from '#infra/operations/place'
import type { InstanceRoster } from '#platform/bus/instances'
import type { Bus } from '#platform/bus/open'
import { within } from '#platform/deadline'
import { type OnBus, readBus } from './bus'
import { asked, type ExternalAnswer, readCoin, readRupiah, readTreasury, type TreasuryHolds } from './external'
import { type Rows, readRows } from './rows'

export type SystemFacts = Rows & {
  readonly treasury: ExternalAnswer<TreasuryHolds>
  readonly rupiah: ExternalAnswer<bigint>
  /** Coin by lane, in wei. */
  readonly coin: ReadonlyMap<string, ExternalAnswer<bigint>>
  readonly bus: ExternalAnswer<OnBus>
}

/** Facts when the rows could not be read. */
export type Unread = { readonly unread: string; readonly bus: ExternalAnswer<OnBus> }

export type Sources = {
  readonly sql: Sql
  readonly bus: () => Promise<Bus>
  /** Roster of the instances that a lasting process has seen. */
  readonly roster?: InstanceRoster
  readonly place: Place
}

/** Deadline of each part, in ms. A part that exceeds it is reported as unread. */
const partMs = 10_000

/** Reads all facts. Never throws: a part that cannot be read carries the reason. */
export async function readFacts(sources: Sources): Promise<SystemFacts | Unread> {
  const { sql, bus, roster, place } = sources
  const part = <T>(what: string, read: () => Promise<T>) => asked(() => within(read(), partMs, what))
  const [rows, onBus] = await Promise.all([
    part('Postgres', () => readRows(sql)),
    part('the bus', () => readBus(bus, roster)),
  ])
  if ('unknown' in rows) return { unread: rows.unknown, bus: onBus }
  const { lanes } = rows.known
  const [treasury, rupiah, ...coins] = await Promise.all([
    readTreasury(place),
    readRupiah(place),
    ...lanes.map(({ address }) => readCoin(place, address)),
  ])
  const coin = new Map(lanes.map(({ address }, at) => [address as string, coins[at]!]))
  return { ...rows.known, treasury, rupiah, coin, bus: onBus }
}
