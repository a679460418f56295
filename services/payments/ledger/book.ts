import type { SideWrite } from '#platform/db/compiled-query'
import type { Tx } from '#platform/db/open'
import { providerOf } from '#shared/ledger/chart'
import { book, bookTo, bookWith, lockItem } from '#shared/ledger/journal.store'
import { difference, type Position, position } from '#shared/ledger/position'
import { countryBy } from '#shared/money/countries'
import type { ProviderAccount } from '#shared/money/pair'
import type { Listed } from '#shared/provider/transactions'
import { findReports, type Reversal } from '../losses/refund.store'
import { backOf } from '../losses/report'
import { atLeastZero } from '../payment'
import type { PaymentRow } from '../payment.table'
import type { Charge } from '../provider'
import { journal } from '../schema.store'
import { positionOf } from './position'

/** Books a change of a row's amounts that does not change its state. */
export const bookChange = (tx: Tx, before: PaymentRow, after: PaymentRow, event: string): Promise<void> =>
  book(tx, journal, {
    event,
    item: after.id,
    lines: difference(positionOf(before), positionOf(after)),
  })

/** Returns the write that books a step within the statement that updates the row. */
export const bookStep = (before: PaymentRow, after: PaymentRow): SideWrite | undefined =>
  bookWith(journal, {
    event: `${before.state} → ${after.state}`,
    item: after.id,
    lines: difference(positionOf(before), positionOf(after)),
  })

function unmatchedLines(account: ProviderAccount, currency: string | null, minor: bigint | null): Position {
  const { currency: asset } = countryBy('account', account)
  if (minor === null || currency !== asset) return []
  return position([
    { account: providerOf[account], asset, amount: minor },
    { account: 'suspense', asset, amount: -minor },
  ])
}

/** Books an unmatched charge, less its refunds, under the provider's id of the charge. */
export async function bookUnmatched(tx: Tx, charge: Charge): Promise<void> {
  const { account, paymentId: item, currency, paidMinor } = charge
  // The lock comes before the read, so that the last of several concurrent refunds counts all before it.
  lockItem(tx, item)
  const reports = await findReports(tx, item)
  const leftMinor = paidMinor === null ? null : paidMinor - backOf(reports, paidMinor).goneMinor
  const lines = unmatchedLines(account, currency, leftMinor)
  await bookTo(tx, journal, { event: 'money of no payment', item, lines })
}

export const bookMatched = (tx: Tx, { paymentId: item }: Charge): Promise<void> =>
  bookTo(tx, journal, { event: 'money found its payment', item, lines: [] })

type Row = Pick<Listed, 'transactionId' | 'type' | 'productId'>
/**
 * Returns the item of a row. A payment has one item, whether its webhook or its row in the list is the first
 * to report it.
 */
const itemOf = ({ transactionId, type, productId }: Row): string =>
  (type === 'payment' ? productId : null) ?? transactionId

export const bookMatchedRow = (tx: Tx, { transactionId: item }: Row): Promise<void> =>
  bookTo(tx, journal, { event: 'money found its payment', item, lines: [] })

/** Books a listed row that matches no payment. A negative amount left the account. */
export const bookListed = (
  tx: Tx,
  row: Row & {
    account: ProviderAccount
    currency: string | null
    minor: bigint | null
  },
): Promise<void> =>
  bookTo(tx, journal, {
    event: 'money of no payment',
    item: itemOf(row),
    lines: unmatchedLines(row.account, row.currency, row.minor),
  })

export const reversalItem = ({ paymentId }: Pick<Reversal, 'paymentId'>) => `${paymentId}/reversal`

/** Returns the amount that top-ups repaid beyond the loss, because part of the loss was undone (10⁻⁶ AUSD). */
export const needlesslyRepaid = ({ madeGoodMicro, lostMicro }: Pick<Reversal, 'madeGoodMicro' | 'lostMicro'>): bigint =>
  atLeastZero(madeGoodMicro - lostMicro)

/**
 * Returns the lines of a reversal: the part that an operator waived, which is zero while the loss may still be repaid; what the
 * wallet repaid needlessly, which is owed back to it; and what an operator gave back of that.
 */
export function reversalLines(reversal: Reversal): Position {
  const { lostMicro, madeGoodMicro, givenBackMicro, clearedAt } = reversal
  const waived = clearedAt === null ? 0n : atLeastZero(lostMicro - madeGoodMicro)
  // guard: what a wallet repaid needlessly is owed back to it in the books
  const owedBack = needlesslyRepaid(reversal)
  return position([
    { account: 'waived', asset: 'AUSD', amount: waived },
    { account: 'owed_back', asset: 'AUSD', amount: -owedBack },
    { account: 'capital', asset: 'AUSD', amount: -givenBackMicro },
    { account: 'clawback', asset: 'AUSD', amount: owedBack + givenBackMicro - waived },
  ])
}

export const bookReversal = (tx: Tx, reversal: Reversal): Promise<void> =>
  bookTo(tx, journal, {
    event: reversal.clearedAt === null ? 'asked for again, or given back' : 'given up',
    item: reversalItem(reversal),
    lines: reversalLines(reversal),
  })
