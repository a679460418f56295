import { and, desc, eq, gt, inArray, isNotNull, isNull, ne, or, sql } from 'drizzle-orm'
import type { Database } from '#shared/db/open'
import { type PaymentRow, payments } from './payment.store'

const inFlightMax = 100

/** A row without a checkout and without money is an attempt that failed: nothing to show. */
const shown = (wallet: `0x${string}`) =>
  and(
    eq(payments.wallet, wallet),
    ne(payments.state, 'opening'),
    or(isNotNull(payments.checkoutUrl), isNotNull(payments.providerPaymentId)),
  )
/** Ids of several services are merged into one list: bytes are an order all of them share. */
const idBytes = sql`${payments.id} collate "C"`
const newestFirst = [desc(payments.createdAt), sql`${idBytes} desc`]

/** One page, newest first; `before` is the last row of the page before. */
export const listPayments = (
  database: Database,
  asked: { wallet: `0x${string}`; limit: number; before: { createdAt: Date; id: string } | null },
): Promise<PaymentRow[]> => {
  const { wallet, limit, before } = asked
  const older = before
    ? sql`(${payments.createdAt}, ${idBytes}) < (${before.createdAt.toISOString()}::timestamptz, ${before.id} collate "C")`
    : undefined
  return database.read((db) =>
    db
      .select()
      .from(payments)
      .where(and(shown(wallet), older))
      .orderBy(...newestFirst)
      .limit(limit),
  )
}

/** Everything that may still be in flight at `now`, newest first. */
export const listInFlight = (
  database: Database,
  wallet: `0x${string}`,
  now: Date,
): Promise<PaymentRow[]> =>
  database.read((db) =>
    db
      .select()
      .from(payments)
      .where(
        and(
          shown(wallet),
          or(
            and(eq(payments.state, 'awaiting_payment'), gt(payments.expiresAt, now)),
            inArray(payments.state, ['paid', 'revoking']),
            and(eq(payments.state, 'review'), isNull(payments.txHash)),
          ),
        ),
      )
      .orderBy(...newestFirst)
      .limit(inFlightMax),
  )
