import type { FetchedDispute, RefundStatus } from '../provider'

/** What a dispute reports about its charge. */
export type DisputeReport = {
  /** `succeeded` means that the money is gone. */
  readonly status: RefundStatus
  /** Amount in the smallest unit; null if it is inexact. */
  readonly refundedMinor: bigint | null
  /** Time until which evidence must be given, or else the dispute is lost; null if none is asked for. */
  readonly evidenceDueAt: Date | null
}

/**
 * Returns the report of a dispute. An open one may still take the money; a lost one has taken the amount of the decision,
 * which may differ from that of the claim (docs.xendit.co/docs/manage-disputes-via-api). A decision that contradicts its
 * amount stays in doubt: a dispute that was lost for nothing, or won for a part.
 */
export function disputeReport({
  stage,
  initialMinor,
  finalMinor,
  dueAt,
}: Pick<FetchedDispute, 'stage' | 'initialMinor' | 'finalMinor' | 'dueAt'>): DisputeReport {
  const claim = { refundedMinor: initialMinor, evidenceDueAt: null }
  switch (stage) {
    case 'evidence_due':
      return { ...claim, status: 'pending', evidenceDueAt: dueAt }
    case 'under_review':
      return { ...claim, status: 'pending' }
    case 'won':
      return { ...claim, status: isWhole(initialMinor, finalMinor) || finalMinor === 0n ? 'dead' : 'unknown' }
    case 'lost':
      if (finalMinor === 0n) return { ...claim, status: 'unknown' }
      return { ...claim, status: 'succeeded', refundedMinor: finalMinor === undefined ? initialMinor : finalMinor }
    case 'unknown':
      return { ...claim, status: 'unknown', evidenceDueAt: dueAt }
  }
}

const isWhole = (initialMinor: bigint | null, finalMinor: bigint | null | undefined): boolean =>
  finalMinor === undefined || finalMinor === initialMinor

/**
 * Returns true if evidence is asked for that was not asked for before, or until another time. Of the reports of a dispute about
 * one of several charges, a single one has the date.
 */
export const isEvidenceNews = (
  { stage, dueAt }: Pick<FetchedDispute, 'stage' | 'dueAt'>,
  before: readonly Pick<DisputeReport, 'evidenceDueAt'>[],
): boolean =>
  (stage === 'evidence_due' || stage === 'unknown') &&
  !before.some(({ evidenceDueAt }) => dueAt?.getTime() === evidenceDueAt?.getTime())
