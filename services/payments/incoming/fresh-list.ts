import { isRecent } from '#platform/clock'
import { lastReadAt } from '#shared/provider/listing.store'
import type { Listed } from '#shared/provider/transactions'
import type { Context } from '../context'
import type { PaymentRow } from '../payment.table'
import type { PaymentProvider } from '../provider'
import { listings } from '../schema.store'

// Each hold needs the list as it is shortly before the hold ends, so concurrent checks share a reading.

type SharedReading = {
  readonly beganAt: number
  readonly fromMs: number
  readonly rows: Promise<Listed[]>
}
type Account = PaymentRow['account']
const readings = new WeakMap<PaymentProvider, Map<Account, SharedReading>>()

/** Time by which a reading reaches back behind the last complete one, in ms, because rows may appear late. */
const backMs = 600_000

/**
 * Returns the rows of a reading that began at most a fifth of the hold margin ago. Throws if the list is
 * unreadable.
 */
export async function readFreshList(context: Context, payment: PaymentRow): Promise<Listed[]> {
  const { provider, database, clock, holdMarginMs } = context
  const { account, createdAt } = payment
  const known = readings.get(provider) ?? new Map<Account, SharedReading>()
  readings.set(provider, known)
  const readAt = await database.read((db) => lastReadAt(db, listings, account))
  const fromMs = Math.max(createdAt.getTime(), readAt?.getTime() ?? 0) - backMs
  const latest = known.get(account)
  const now = clock()
  if (latest && isRecent(latest.beganAt, now, holdMarginMs / 5) && latest.fromMs <= fromMs) return latest.rows
  const rows = provider.listTransactions(account, now - fromMs)
  const reading = { beganAt: now, fromMs, rows }
  known.set(account, reading)
  rows.catch(() => known.get(account) === reading && known.delete(account))
  return rows
}
