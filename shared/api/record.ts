import { Type } from 'typebox'
import { route } from '#shared/api/route'
import { Address, Amount } from '#shared/messages/fields'
import { RecordHistory } from '#shared/messages/indexer'

/** The public credit record of a wallet, without a name or a document. */
export const GetRecord = route({
  method: 'GET',
  path: '/verify/:wallet',
  access: 'public',
  body: null,
  answer: Type.Object(
    {
      account: Address,
      verified: Type.Boolean(),
      score: Amount,
      ratioBps: Amount,
      cycles: Type.Integer({ description: 'Closed cycles, reversed ones included.' }),
      defaulted: Type.Boolean(),
      history: Type.Union([RecordHistory, Type.Null()]),
      indexer: Type.Enum(['ok', 'unavailable'], {
        title: 'IndexerState',
        description: 'Whether `history` could be had.',
      }),
    },
    { title: 'PublicRecord', description: 'The credit record, without a name or a document.' },
  ),
})
