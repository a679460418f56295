import type { Listed, ListedStatus } from '#shared/provider/transactions'
import { contains, type Report } from '../losses/report'
import type { RefundStatus } from '../provider'

/** What is recorded about a row of the provider's list. */
export type RowFacts = {
  /** The row names one of our payments, by charge, request or reference. */
  readonly isOwned: boolean
  /** Its charge is the own or a second one of a payment. */
  readonly isCounted: boolean
  /** It was recorded as money that matches no payment; a refund or dispute, long enough ago that it was looked for since. */
  readonly isRecordedUnmatched: boolean
  /** Of the doubt that this row has raised about its charge. */
  readonly doubt: RefundStatus | undefined
  /** Of the doubt that the charge itself has raised. */
  readonly chargeDoubt: RefundStatus | undefined
  /** The refund that the row names was reported by another source. */
  readonly isRefundKnown: boolean
  /** The report that the row itself has made. `paymentId` is empty if it matched none. */
  readonly report: (Pick<Report, 'status' | 'refundedMinor'> & { readonly paymentId: string }) | undefined
  /** Of the refund or dispute that `report` names. */
  readonly objectStatus: RefundStatus | undefined
  /** The row is in the currency of its account. */
  readonly isOwnCurrency: boolean
}

export const statusOf: Readonly<Record<ListedStatus, RefundStatus>> = {
  pending: 'pending',
  succeeded: 'succeeded',
  unknown: 'unknown',
  failed: 'dead',
  voided: 'dead',
  reversed: 'dead',
}

/** What the row of a charge means for money that we counted: gone, or perhaps. */
export function doubtOf({ status }: Pick<Listed, 'status'>): 'succeeded' | 'unknown' | undefined {
  if (status === 'voided' || status === 'reversed') return 'succeeded'
  return status === 'failed' || status === 'unknown' ? 'unknown' : undefined
}

type Row = Pick<Listed, 'type' | 'status' | 'amountMinor'>

/**
 * Returns true if what the row is about is recorded, as the row has it. A row that is not done is received at each reading of
 * the list, so that a wrong answer about it heals.
 */
export function isRowDone(row: Row, facts: RowFacts): boolean {
  switch (row.type) {
    case 'payment':
      return isChargeDone(row, facts)
    case 'refund':
      return isReportDone(row, facts) && (!facts.report || facts.objectStatus === facts.report.status)
    case 'chargeback':
      // guard: a row is received again while its dispute reads otherwise
      if (isContradicted(facts)) return false
      return isReportDone(row, facts) && (!facts.report || facts.report.refundedMinor === exactMinor(row, facts))
    default:
      return true
  }
}

function isChargeDone(row: Row, facts: RowFacts): boolean {
  if (row.status === 'pending') return true
  if (row.status !== 'succeeded') return !facts.isCounted || contains(facts.doubt, doubtOf(row))
  // The charge may have had another status for a while.
  return facts.isCounted ? isOver(facts.doubt) && isOver(facts.chargeDoubt) : isUnmatched(facts)
}

function isReportDone({ status }: Pick<Row, 'status'>, facts: RowFacts): boolean {
  const { isOwned, report } = facts
  if (!isOver(facts.doubt)) return false
  // What never took place needs no record, unless a webhook may have reported it before: a refund that bounced, a dispute that was lost.
  const isDead = statusOf[status] === 'dead'
  // guard: a row that takes a refund or dispute back is received, also if the row was not seen before
  if (!report && isDead && (isOwned || facts.isRefundKnown)) return isUnmatched(facts)
  if (!report) return isDead || isUnmatched(facts)
  // A restore may have brought back the payment of a charge that matched none before.
  const isNamed = report.paymentId !== '' || !isOwned
  return contains(report.status, statusOf[status]) && isNamed
}

/** Returns true if the dispute that the row names reads otherwise: the answer about it may have been one from before. */
const isContradicted = ({ report, objectStatus }: RowFacts): boolean =>
  objectStatus !== undefined && objectStatus !== 'unknown' && objectStatus !== report?.status

const isOver = (doubt: RefundStatus | undefined): boolean => doubt === undefined || doubt === 'dead'

const isUnmatched = ({ isOwned, isRecordedUnmatched }: RowFacts): boolean => !isOwned && isRecordedUnmatched

/** Null for another currency: then all that is left counts. */
const exactMinor = ({ amountMinor }: Row, { isOwnCurrency }: RowFacts): bigint | null =>
  isOwnCurrency ? amountMinor : null
