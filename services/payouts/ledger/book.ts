import type { SideWrite } from '#platform/db/compiled-query'
import type { Tx } from '#platform/db/open'
import { bookTo, bookWith } from '#shared/ledger/journal.store'
import { difference, type Position, position } from '#shared/ledger/position'
import type { Listed } from '#shared/provider/transactions'
import type { CashoutState } from '../cashout'
import type { Cashout } from '../cashout.table'
import type { Evidence } from '../provider'
import { journal } from '../schema.store'
import { positionOf } from './position'

/** Returns the write that books a step within the statement that moves the row. No step changes the row's amounts. */
export const bookStep = (before: Cashout, next: CashoutState): SideWrite | undefined =>
  bookWith(journal, {
    event: `${before.state} → ${next}`,
    item: before.id,
    lines: difference(positionOf(before), positionOf({ ...before, state: next })),
  })

const unexplainedLines = (leftMinor: bigint): Position =>
  position([
    { account: 'provider_id', asset: 'IDR', amount: -leftMinor },
    { account: 'suspense', asset: 'IDR', amount: leftMinor },
  ])

/**
 * Books money that left the account beyond the cash-out's row, in suspense under the provider's payout id.
 * Books nothing before the status is decided, or without an exact rupiah amount.
 */
export async function bookOdd(tx: Tx, evidence: Evidence, cashout?: Cashout): Promise<void> {
  const { payoutId: item, status, amountMinor, currency } = evidence
  if (status === 'pending' || status === 'unknown') return
  if (amountMinor === undefined || currency !== 'IDR') return
  const leftMinor = status === 'succeeded' ? amountMinor : 0n
  const isIts = cashout?.state === 'paid' && cashout.providerPayoutId === item
  const lines = unexplainedLines(leftMinor - (isIts ? cashout.fiatMinor : 0n))
  await bookTo(tx, journal, { event: 'payout that does not fit', item, lines })
}

/** Reverses the lines of `bookOdd` once the row accounts for the payout. */
export const bookFitting = (tx: Tx, { payoutId: item }: Evidence): Promise<void> =>
  bookTo(tx, journal, { event: 'payout that fits', item, lines: [] })

/** Books a listed payout that lookups do not find, under the id that they would find. */
export async function bookListed(tx: Tx, row: Listed): Promise<void> {
  const { transactionId, productId, status, amountMinor, currency } = row
  const item = productId ?? transactionId
  await bookFoundRow(tx, row, [item])
  if (amountMinor === null || currency !== 'IDR') return
  const lines = unexplainedLines(status === 'succeeded' ? amountMinor : 0n)
  await bookTo(tx, journal, { event: 'payout of nobody', item, lines })
}

/** Reverses lines that were booked for a row under other ids than those that account for it now. */
export async function bookFoundRow(
  tx: Tx,
  { transactionId, productId }: Listed,
  accounting: readonly string[],
): Promise<void> {
  for (const item of [transactionId, productId])
    if (item !== null && !accounting.includes(item))
      await bookTo(tx, journal, { event: 'payout that was found', item, lines: [] })
}
