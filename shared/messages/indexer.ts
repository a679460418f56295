import { Type } from 'typebox'
import { Address, Amount, AusdAmount, Hash, UnixSeconds } from '#shared/messages/fields'
import { question } from '#shared/messages/topic'

const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])

export const RecordCycle = Type.Object(
  {
    number: Type.Integer(),
    outcome: orNull(
      Type.Enum(['Qualified', 'Short', 'Late', 'Defaulted', 'Reversed'], {
        title: 'CycleOutcome',
        description: 'Outcome of the cycle.',
      }),
    ),
    openedAt: UnixSeconds,
    dueAt: UnixSeconds,
    closedAt: orNull(UnixSeconds),
    peakDrawn: AusdAmount,
    totalRepaid: AusdAmount,
    scoreAfter: orNull(Amount),
    openTxHash: Hash,
    closeTxHash: orNull(Hash),
  },
  {
    title: 'RecordCycle',
    description: 'A cycle. In the open one, fields of events that have not happened are null.',
  },
)

export const RecordHistory = Type.Object(
  {
    score: Amount,
    cycleCount: Type.Integer(),
    repayCount: Type.Integer(),
    cyclesOpened: Type.Integer(),
    defaulted: Type.Boolean(),
    verifiedAt: orNull(UnixSeconds),
    firstSeenAt: orNull(UnixSeconds),
    cycles: Type.Array(RecordCycle),
  },
  {
    title: 'RecordHistory',
    description: 'Credit history of a wallet, from final chain events.',
  },
)

/** Reads a record from finalized events. Refused: indexer_lags. */
export const IndexerRecord = question('indexer.record', 'indexer-reader', ['gateway'], {
  request: Type.Object({ wallet: Address }),
  answer: Type.Object({ history: RecordHistory, blockNumber: Amount }),
  repeat: 'changes nothing',
})

/**
 * Reads the debt of a wallet from finalized events, in chain time. `owedForDay`: debt (10⁻⁶ AUSD) owed without
 * interruption for the day before `blockTime`. `openedAt`: start of the open cycle. Refused: indexer_lags.
 */
export const IndexerDebt = question('indexer.debt', 'indexer-reader', ['payments'], {
  request: Type.Object({ wallet: Address }),
  answer: Type.Object({
    owedForDay: Amount,
    openedAt: orNull(UnixSeconds),
    blockTime: UnixSeconds,
  }),
  repeat: 'changes nothing',
})

/**
 * Lists open cycles by due date, from finalized events: those due between `sinceSeconds` before and `untilSeconds`
 * after `blockTime` (chain time). Refused: indexer_lags.
 */
export const IndexerDue = question('indexer.due', 'indexer-reader', ['gateway'], {
  request: Type.Object({
    sinceSeconds: Type.Integer({ minimum: 0 }),
    untilSeconds: Type.Integer({ minimum: 0 }),
    after: orNull(Type.Object({ dueAt: UnixSeconds, wallet: Address })),
  }),
  answer: Type.Object({
    cycles: Type.Array(
      Type.Object({
        wallet: Address,
        number: Type.Integer(),
        openedAt: UnixSeconds,
        dueAt: UnixSeconds,
      }),
    ),
    isLast: Type.Boolean(),
    blockTime: UnixSeconds,
  }),
  repeat: 'changes nothing',
})
