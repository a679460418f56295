import { Type } from 'typebox'
import { idParameter } from '#shared/api/activity'
import { route } from '#shared/api/route'
import { Address, Timestamp } from '#shared/messages/fields'
import { StatementBalance, StatementItem, statementDaysMax } from '#shared/messages/statement'

const time = (name: string, description: string) => ({
  name,
  in: 'query' as const,
  description: `${description} A date in the country of the user (in UTC before it is set), or ISO 8601 with a zone.`,
  schema: { type: 'string', examples: ['2026-11-01', '2026-11-21T07:00:00.000Z', '2026-11-01T00:00:00+07:00'] },
})

const none = { collateral: '0', debt: '0', inFlight: '0', payouts: '0' }
const exampleStatement = {
  wallet: '0x9b2ef1c1a7f0e3d2c4b5a6978877665544332211',
  from: '2026-11-01T00:00:00.000Z',
  to: '2026-12-01T00:00:00.000Z',
  asOf: '2026-12-01T00:00:00.000Z',
  opening: none,
  items: [
    {
      at: '2026-11-21T07:01:00.000Z',
      kind: 'collateral_added',
      ausd: '3076923',
      id: 'pay_Zk3nT0a7yQm1c5VbXw9uRd',
      pair: 'USD/IDR',
      fiat: '50000',
      txHash: `0x${'a1'.repeat(32)}`,
      in: { collateral: '3076923' },
      out: {},
    },
    {
      at: '2026-11-21T07:05:00.000Z',
      kind: 'drawn',
      ausd: '1000000',
      txHash: `0x${'b2'.repeat(32)}`,
      in: { debt: '1000000' },
      out: {},
    },
  ],
  closing: { ...none, collateral: '3076923', debt: '1000000' },
}

/** The example as CSV. */
const exampleCsv = [
  'at,kind,id,ausd,pair,fiat,fee,txHash,collateralIn,collateralOut,debtIn,debtOut,inFlightIn,inFlightOut,payoutsIn,payoutsOut',
  '2026-11-01T00:00:00.000Z,opening,,,,,,,0,0,0,0,0,0,0,0',
  '2026-11-21T07:01:00.000Z,collateral_added,pay_Zk3nT0a7yQm1c5VbXw9uRd,3076923,USD/IDR,50000,,0xa1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1,3076923,0,0,0,0,0,0,0',
  '2026-11-21T07:05:00.000Z,drawn,,1000000,,,,0xb2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2,0,0,1000000,0,0,0,0,0',
  '2026-12-01T00:00:00.000Z,closing,,,,,,,0,3076923,0,1000000,0,0,0,0',
]
  .map((row) => `${row}\r\n`)
  .join('')

export const GetStatement = route({
  method: 'GET',
  path: '/me/statement',
  access: 'signed',
  tag: 'account',
  summary: 'Account statement of a period',
  description:
    'Collateral and debt come from final events of the credit line, with the yield of collateral ' +
    'realised only when it is taken; money in flight and payouts come from the journals of this ' +
    'service, some seconds after the chain. The balance and the transfers of the wallet itself are ' +
    `not part of it. At most ${statementDaysMax} days. As CSV with \`Accept: text/csv\` or ` +
    '`format=csv`: one row each for the opening, every line and the closing, so that every column `…In` ' +
    'has the sum of its column `…Out`.',
  parameters: [
    time('from', 'Beginning of the period; default: 30 days before `to`.'),
    time('to', 'End of the period, exclusive; default: now.'),
    {
      name: 'format',
      in: 'query',
      description: 'Format of the response; default: `Accept`, else JSON.',
      schema: { type: 'string', pattern: '^(json|csv)$', examples: ['csv'] },
    },
  ],
  returns: 'The statement.',
  example: { answer: exampleStatement, text: { 'text/csv': exampleCsv } },
  errors: [400],
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
  tag: 'account',
  summary: 'Receipt of one item, as a page to print',
  description:
    'The item as in `GET /me/activity/{id}`, as HTML without script, font or image. It does not name ' +
    'the wallet. Fetch it with the session, and open it from a Blob.',
  parameters: [idParameter],
  returns: 'The page.',
  example: { text: { 'text/html': '<!doctype html>' } },
  errors: [404],
  worded: true,
  body: null,
  answer: Type.String(),
})
