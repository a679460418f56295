import type { Beside } from '#shared/db/built'
import type { Tx } from '#shared/db/open'
import { providerOf } from '#shared/ledger/chart'
import { book, bookBeside, bookTo, lockItem } from '#shared/ledger/journal.store'
import { difference, type Position, position } from '#shared/ledger/position'
import { countryBy } from '#shared/money/countries'
import type { ProviderAccount } from '#shared/money/pair'
import type { PaymentRow } from '../payment.store'
import type { Charge } from '../provider'
import { type Reversal, sumRefunded } from '../refunds/refund.store'
import { journal } from '../schema.store'
import { positionOf } from './position'

/**
 * Books what a change of a payment's row means, in the transaction of the change. Whoever notes
 * money facts of a row that move no state calls it; a step of the lifecycle has `bookStep`.
 */
export const bookChange = (
  tx: Tx,
  before: PaymentRow,
  after: PaymentRow,
  event: string,
): Promise<void> =>
  book(tx, journal, {
    event,
    item: after.id,
    lines: difference(positionOf(before), positionOf(after)),
  })

/** The same in the statement that changes the row. Undefined when no money moves. */
export const bookStep = (before: PaymentRow, after: PaymentRow): Beside | undefined =>
  bookBeside(journal, {
    event: `${before.state} → ${after.state}`,
    item: after.id,
    lines: difference(positionOf(before), positionOf(after)),
  })

/** Money of the account that is nobody's; nothing of an inexact amount or of another currency. */
function unmatchedLines(
  account: ProviderAccount,
  currency: string | null,
  minor: bigint | null,
): Position {
  const { currency: asset } = countryBy('account', account)
  if (minor === null || currency !== asset) return []
  return position([
    { account: providerOf[account], asset, amount: minor },
    { account: 'suspense', asset, amount: -minor },
  ])
}

/** Books a charge that belongs to no payment of ours, less what was refunded of it, under its own id. */
export async function bookUnmatched(tx: Tx, charge: Charge): Promise<void> {
  const { account, paymentId: item, currency, paidMinor } = charge
  // First: of refunds that are received at once, the last to book counts those before it.
  await lockItem(tx, item)
  const leftMinor = paidMinor === null ? null : paidMinor - (await sumRefunded(tx, item))
  const lines = unmatchedLines(account, currency, leftMinor)
  await bookTo(tx, journal, { event: 'money of no payment', item, lines })
}

/** Books a charge no more under its own id: it belongs to a payment after all. */
export const bookMatched = (tx: Tx, { paymentId: item }: Charge): Promise<void> =>
  bookTo(tx, journal, { event: 'money found its payment', item, lines: [] })

/** Books a row of the provider's list that belongs to no payment of ours; below 0: money that left. */
export const bookListed = (
  tx: Tx,
  row: {
    transactionId: string
    account: ProviderAccount
    currency: string | null
    minor: bigint | null
  },
): Promise<void> =>
  bookTo(tx, journal, {
    event: 'money of no payment',
    item: row.transactionId,
    lines: unmatchedLines(row.account, row.currency, row.minor),
  })

/** Under which name what was given up of a reversal is booked. */
export const givenUpItem = ({ paymentId }: Pick<Reversal, 'paymentId'>) => `${paymentId}/reversal`

/** What we gave up of a reversal; nothing while it may be made good. */
export function givenUpLines({ lostMicro, madeGoodMicro, clearedAt }: Reversal): Position {
  const amount = clearedAt === null ? 0n : lostMicro - madeGoodMicro
  return position([
    { account: 'waived', asset: 'AUSD', amount },
    { account: 'clawback', asset: 'AUSD', amount: -amount },
  ])
}

/** Books what we gave up of a reversal, beside its payment. */
export const bookGivenUp = (tx: Tx, reversal: Reversal): Promise<void> =>
  bookTo(tx, journal, {
    event: reversal.clearedAt === null ? 'asked for again' : 'given up',
    item: givenUpItem(reversal),
    lines: givenUpLines(reversal),
  })
