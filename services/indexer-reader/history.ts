import type { Static } from 'typebox'
import type { RecordCycle, RecordHistory } from '#shared/messages/indexer'
import type { Cycle, Standing } from './projection.ts'

export type History = Static<typeof RecordHistory>

/** The public history: times are unix seconds in decimal strings, cycles stand oldest first. */
export const historyOf = (
  standing: Omit<Standing, 'open' | 'closed' | 'held' | 'reversing'>,
  cycles: readonly Cycle[],
): History => ({
  score: standing.score.toString(),
  cycleCount: standing.cyclesClosed,
  repayCount: standing.repayCount,
  cyclesOpened: standing.cyclesOpened,
  defaulted: standing.defaulted,
  verifiedAt: textOf(standing.verifiedAtSeconds),
  firstSeenAt: textOf(standing.firstSeenAtSeconds),
  cycles: [...cycles].sort((left, right) => left.number - right.number).map(entryOf),
})

const entryOf = (cycle: Cycle): Static<typeof RecordCycle> => ({
  number: cycle.number,
  outcome: cycle.outcome,
  openedAt: String(cycle.openedAtSeconds),
  closedAt: textOf(cycle.closedAtSeconds),
  peakDrawn: cycle.peakDrawnMicro.toString(),
  totalRepaid: cycle.totalRepaidMicro.toString(),
  scoreAfter: textOf(cycle.scoreAfter),
  openTxHash: cycle.openTxHash,
  closeTxHash: cycle.closeTxHash,
})

const textOf = (value: number | bigint | null): string | null =>
  value === null ? null : value.toString()
