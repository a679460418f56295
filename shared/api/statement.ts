import { Type } from 'typebox'
import { route } from '#shared/api/route'
import { Address, Timestamp } from '#shared/messages/fields'
import { StatementBalance, StatementItem } from '#shared/messages/statement'

export const GetStatement = route({
  method: 'GET',
  path: '/me/statement',
  access: 'signed',
  body: null,
  answer: Type.Object(
    {
      wallet: Address,
      from: Timestamp,
      to: Timestamp,
      asOf: Timestamp,
      opening: StatementBalance,
      items: Type.Array(StatementItem, { description: 'Every line, oldest first.' }),
      closing: StatementBalance,
    },
    {
      title: 'Statement',
      description:
        'Balances at `from`, every line, and balances at `asOf`: the end of the period, or the newest final ' +
        'block if that is earlier. `opening` plus every `in` less every `out` is `closing`.',
    },
  ),
})

export const GetReceipt = route({
  method: 'GET',
  path: '/me/activity/:id/receipt',
  access: 'signed',
  body: null,
  answer: Type.String(),
})
