import type { Static } from 'typebox'
import type { Address } from 'viem'
import { type Handler, handler } from '#platform/bus/serve'
import { batchReads } from '#platform/reads'
import { IndexerRecord, type RecordCycle, type RecordHistory } from '#shared/messages/indexer'
import { ok, refuse } from '#shared/refusals'
import type { Context } from './context'
import { findCursor, type GenerationCursor } from './cursor.store'
import { openMemoryBound } from './memory'
import { type Cycle, unseen, type WalletProjection } from './projection'
import { loadRecords } from './record.store'

type AnswerContext = Pick<Context, 'database' | 'origin' | 'lagMaxMs' | 'clock'>

export function answerRecord(context: AnswerContext): Handler {
  const { database, origin, lagMaxMs, clock } = context
  const load = batchReads((wallets: ReadonlySet<Address>) => loadRecords(database, origin, wallets))
  const boundMemory = openMemoryBound()
  return handler(IndexerRecord, async ({ wallet }) => {
    const loaded = await load(wallet)
    boundMemory(1)
    if (!loaded || !mayAnswer(loaded.cursor, lagMaxMs, clock())) return refuse('indexer_lags')
    const entry = loaded.found.get(wallet)
    const history = historyOf(entry?.record ?? unseen, entry?.cycles ?? [])
    return ok({ history, blockNumber: String(loaded.cursor.blockNumber) })
  })
}

/**
 * Returns how far the record is behind, in ms. It also counts from the cursor's last move, because a chain's clock may
 * run ahead of ours. A move in the future was made before the clock was set back.
 */
export const lagMs = (cursor: Pick<GenerationCursor, 'blockTimeSeconds' | 'movedAt'>, nowMs: number): number =>
  Math.max(nowMs - 1_000 * (cursor.blockTimeSeconds + 1), Math.abs(nowMs - cursor.movedAt.getTime()))

export const mayAnswer = (
  cursor: Pick<GenerationCursor, 'state' | 'complete' | 'blockTimeSeconds' | 'movedAt'> | undefined,
  lagMaxMs: number,
  nowMs: number,
): boolean => cursor?.state === 'serving' && cursor.complete && lagMs(cursor, nowMs) <= lagMaxMs

/** Returns a history, with times in Unix seconds. */
export const historyOf = (
  standing: Omit<WalletProjection, 'open' | 'closed' | 'held'>,
  cycles: readonly Cycle[],
): Static<typeof RecordHistory> => ({
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
  dueAt: String(cycle.dueAtSeconds),
  closedAt: textOf(cycle.closedAtSeconds),
  peakDrawn: cycle.peakDrawnMicro.toString(),
  totalRepaid: cycle.totalRepaidMicro.toString(),
  scoreAfter: textOf(cycle.scoreAfter),
  openTxHash: cycle.openTxHash,
  closeTxHash: cycle.closeTxHash,
})

const textOf = (value: number | bigint | null): string | null => (value === null ? null : value.toString())

export async function readStats({ database, origin, rpc, lagMaxMs, clock, figures, startedAtMs }: Context) {
  const serving = await database.read((db) => findCursor(db, 'serving', origin.contract))
  const filling = await database.read((db) => findCursor(db, 'filling'))
  const { finalized } = figures
  return {
    answers: mayAnswer(serving, lagMaxMs, clock()),
    generation: serving?.generation ?? null,
    cursor: serving?.blockNumber ?? null,
    events: serving?.sequence ?? 0,
    lagMs: serving ? lagMs(serving, clock()) : Math.max(0, clock() - startedAtMs),
    lagBlocks: serving && finalized !== null ? Math.max(0, finalized - serving.blockNumber) : null,
    filling: filling ? { generation: filling.generation, cursor: filling.blockNumber } : null,
    ...figures,
    rpc: rpc.figures(),
  }
}
