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

export const GetRecord = route({
  method: 'GET',
  path: '/verify/:wallet',
  access: 'public',
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
