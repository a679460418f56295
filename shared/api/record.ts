import { Type } from 'typebox'
import { route } from '#shared/api/route'
import { Address, amountOf } from '#shared/messages/fields'
import { RecordCycle, RecordHistory } from '#shared/messages/indexer'

const score = 'Credit score in points: starts at 0 and changes when a cycle closes.'

const Cycle = Type.Object(
  {
    ...RecordCycle.properties,
    number: Type.Integer({ description: 'Number of the cycle, from 1, in order of opening.' }),
    scoreAfter: Type.Union([amountOf('Score when the cycle closed.'), Type.Null()]),
  },
  {
    title: 'RecordCycle',
    description:
      'A cycle. In the open one, fields of events that have not happened are null. `dueAt` is the last ' +
      'second in which a repayment is in time; of a closed cycle, as it was when it closed.',
  },
)

const History = Type.Object(
  {
    ...RecordHistory.properties,
    score: amountOf(score),
    cycleCount: Type.Integer({ description: 'Number of closed cycles, including reversed ones.' }),
    repayCount: Type.Integer({ description: 'Number of repayments, without reversed ones.' }),
    cyclesOpened: Type.Integer({ description: 'Number of cycles, including the open one.' }),
    defaulted: Type.Boolean({ description: 'Whether a debt was not repaid in time.' }),
    cycles: Type.Array(Cycle, { description: 'All cycles, oldest first.' }),
  },
  {
    title: 'RecordHistory',
    description: 'Credit history of a wallet, from final chain events.',
  },
)

/** Example of a record. The debt keeps its age after a reversal, so the third cycle has the second's opening time. */
export const exampleRecord = {
  account: '0x9B2EF1c1a7F0e3D2C4b5A6978877665544332211',
  verified: true,
  score: '10',
  ratioBps: '5250',
  cycles: 2,
  defaulted: false,
  history: {
    score: '10',
    cycleCount: 2,
    repayCount: 1,
    cyclesOpened: 3,
    defaulted: false,
    verifiedAt: '1795244400',
    firstSeenAt: '1795244400',
    cycles: [
      {
        number: 1,
        outcome: 'Qualified',
        openedAt: '1795248000',
        dueAt: '1797840000',
        closedAt: '1795507200',
        peakDrawn: '1000000',
        totalRepaid: '1000000',
        scoreAfter: '10',
        openTxHash: `0x${'a1'.repeat(32)}`,
        closeTxHash: `0x${'b2'.repeat(32)}`,
      },
      {
        number: 2,
        outcome: 'Reversed',
        openedAt: '1795510800',
        dueAt: '1798102800',
        closedAt: '1795683600',
        peakDrawn: '2000000',
        totalRepaid: '0',
        scoreAfter: '10',
        openTxHash: `0x${'c3'.repeat(32)}`,
        closeTxHash: `0x${'d4'.repeat(32)}`,
      },
      {
        number: 3,
        outcome: null,
        openedAt: '1795510800',
        dueAt: '1798102800',
        closedAt: null,
        peakDrawn: '2000000',
        totalRepaid: '0',
        scoreAfter: null,
        openTxHash: `0x${'e5'.repeat(32)}`,
        closeTxHash: null,
      },
    ],
  },
  indexer: 'ok',
}

export const GetRecord = route({
  method: 'GET',
  path: '/verify/:wallet',
  access: 'public',
  tag: 'record',
  summary: 'Public credit record of a wallet',
  description:
    'A wallet never seen before has an empty record. `cycles` counts closed cycles, including ' +
    'reversed ones. `outcome` is null while a cycle is open, then `Qualified`, `Short` (too ' +
    'little debt for too short a time), `Late`, `Defaulted`, or `Reversed`: a payment that ' +
    'counted in it was reversed, and its effect on the score was undone. For a reversed cycle, ' +
    '`totalRepaid` is the remaining amount and `scoreAfter` the score after the reversal; the ' +
    'restored debt opens a new cycle with the same `openedAt`. `history` is null while the ' +
    'indexer is unavailable or contradicts the contract; its times are unix seconds.',
  parameters: [{ name: 'wallet', in: 'path', required: true, schema: Address }],
  returns: 'The record.',
  example: { answer: exampleRecord },
  errors: [400],
  tagged: true,
  body: null,
  answer: Type.Object(
    {
      account: Address,
      verified: Type.Boolean({ description: 'Whether the owner of the wallet is verified.' }),
      score: amountOf(score),
      ratioBps: amountOf('Share of the collateral that may be borrowed, in hundredths of a percent.'),
      cycles: Type.Integer({ description: 'Number of closed cycles, including reversed ones.' }),
      defaulted: Type.Boolean({ description: 'Whether a debt was not repaid in time.' }),
      history: Type.Union([History, Type.Null()], {
        description: 'Credit history from the indexer; null while the indexer is unavailable.',
      }),
      indexer: Type.Enum(['ok', 'unavailable'], {
        title: 'IndexerState',
        description: 'Whether `history` is available.',
      }),
    },
    { title: 'PublicRecord', description: 'Credit record, without name or document.' },
  ),
})
