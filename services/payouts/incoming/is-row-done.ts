import type { Listed } from '#shared/provider/transactions'
import { type CashoutFacts, isFailure } from '../decide'

type Row = Pick<Listed, 'type' | 'status' | 'transactionId' | 'productId' | 'currency' | 'amountMinor'>

/** What is recorded about a row of the provider's list. */
export type RowFacts = {
  /** The cash-out that was paid as the row's payout, or else the one that the reference names. */
  readonly own: Pick<CashoutFacts, 'state' | 'fiatMinor' | 'providerPayoutId' | 'lastStatus'> | undefined
  /** Its payout was recorded as one without a cash-out. */
  readonly isRecordedUnmatched: boolean
  /** Its payout was recorded as one that contradicts its cash-out. */
  readonly isRecordedOdd: boolean
  /** Lookups by the id of the row found no payout. At first they may have been behind the list. */
  readonly wasLookedFor: boolean
  /** Rupiah in suspense by item, with those of the row's ids and of the cash-out's payout. Missing items have none. */
  readonly suspense: ReadonlyMap<string, bigint>
}

/** Returns true if the row is a payout. One of unrecognised type may be a payout if it names a cash-out of ours. */
export const isPayout = ({ type }: Pick<Row, 'type'>, own: object | undefined): boolean =>
  type === 'payout' || (type === 'unknown' && own !== undefined)

/**
 * Returns true if the row is no payout, or if what it is about is recorded and booked as the row has it. A row that is not
 * done is received at each reading of the list, so that a wrong answer about its payout heals.
 */
export function isRowDone(row: Row, facts: RowFacts): boolean {
  const { own } = facts
  if (!isPayout(row, own)) return true
  const isOther = isOfAnother(row, facts)
  if (!isKnown(row, facts) && !isOther && !facts.wasLookedFor) return false
  if (row.status === 'pending' || row.status === 'unknown') return true
  const paidBy = isOther ? undefined : own
  if (paidBy && row.status !== 'succeeded' && !isFailure(paidBy.lastStatus)) return false
  return isBooked(row, facts, paidBy)
}

const isKnown = ({ productId }: Row, { own }: RowFacts): boolean =>
  productId !== null && own?.providerPayoutId === productId

/** Returns true for the second payout of a cash-out, and for a payout without a cash-out of ours. */
const isOfAnother = (row: Row, facts: RowFacts): boolean =>
  (facts.isRecordedUnmatched && !facts.own) || (facts.isRecordedOdd && !isKnown(row, facts))

/** Returns true if the journal has what left the account, once, or if the row has no exact amount to compare. */
function isBooked(row: Row, { suspense }: RowFacts, paidBy: RowFacts['own']): boolean {
  const { transactionId, productId, status, currency, amountMinor } = row
  if (amountMinor === null || currency !== 'IDR') return true
  const suspenseOf = (item: string | null) => suspense.get(item ?? '') ?? 0n
  const item = paidBy ? paidBy.providerPayoutId : (productId ?? transactionId)
  const isElsewhereToo = [transactionId, productId].some((other) => other !== item && suspenseOf(other) !== 0n)
  const leftMinor = suspenseOf(item) + (paidBy?.state === 'paid' ? paidBy.fiatMinor : 0n)
  // guard: a listed payout is asked about until the books agree with its row
  return !isElsewhereToo && leftMinor === (status === 'succeeded' ? amountMinor : 0n)
}
