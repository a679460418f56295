import { Type } from 'typebox'
import { route } from '#shared/api/route'
import { Address, amountOf } from '#shared/messages/fields'
import { RecordCycle, RecordHistory } from '#shared/messages/indexer'

const score = 'Points: 0 at first, moved by how cycles end.'

const Cycle = Type.Object(
  {
    ...RecordCycle.properties,
    number: Type.Integer({ description: 'Counted from 1, in the order in which they opened.' }),
    scoreAfter: Type.Union([amountOf('The score at its end.'), Type.Null()]),
  },
  { title: 'RecordCycle', description: 'A cycle; of the open one, what has not happened is null.' },
)

const History = Type.Object(
  {
    ...RecordHistory.properties,
    score: amountOf(score),
    cycleCount: Type.Integer({ description: 'Closed cycles, reversed ones included.' }),
    repayCount: Type.Integer({ description: 'Repayments that were not taken back.' }),
    cyclesOpened: Type.Integer({ description: 'Closed cycles, and the open one if there is one.' }),
    defaulted: Type.Boolean({ description: 'A debt was not repaid in time.' }),
    cycles: Type.Array(Cycle, { description: 'All of them, oldest first.' }),
  },
  {
    title: 'RecordHistory',
    description: 'The history of a wallet, from final events of the chain.',
  },
)

/** The public credit record of a wallet, without a name or a document. */
export const GetRecord = route({
  method: 'GET',
  path: '/verify/:wallet',
  access: 'public',
  body: null,
  answer: Type.Object(
    {
      account: Address,
      verified: Type.Boolean({ description: 'The person behind the wallet was verified.' }),
      score: amountOf(score),
      ratioBps: amountOf(
        'The share of the collateral that may be owed, in hundredths of a percent.',
      ),
      cycles: Type.Integer({ description: 'Closed cycles, reversed ones included.' }),
      defaulted: Type.Boolean({ description: 'A debt was not repaid in time.' }),
      history: Type.Union([History, Type.Null()], {
        description: 'Each cycle, from the indexer; null while that is unavailable.',
      }),
      indexer: Type.Enum(['ok', 'unavailable'], {
        title: 'IndexerState',
        description: 'Whether `history` could be had.',
      }),
    },
    { title: 'PublicRecord', description: 'The credit record, without a name or a document.' },
  ),
})
