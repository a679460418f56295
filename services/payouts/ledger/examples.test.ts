import { expect, test } from 'bun:test'
import type { AccountName, Asset } from '#shared/ledger/chart'
import { difference, type Position } from '#shared/ledger/position'
import { positionOf } from './position'

// All examples are 100 AUSD at Rp 16,250 per dollar.

type Row = Parameters<typeof positionOf>[0]
type Posting = Partial<Record<Asset, Partial<Record<AccountName, bigint>>>>
type Example = readonly [state: Row['state'], posting: Posting]

const taken: Example = [
  'taken',
  {
    IDR: { payouts: -1_625_000n, exchange: 1_625_000n },
    AUSD: { treasury: 100_000_000n, exchange: -100_000_000n },
  },
]
const paid: Example = ['paid', { IDR: { provider_id: -1_625_000n, payouts: 1_625_000n } }]
const returned: Example = ['returned', { AUSD: { treasury: -100_000_000n, returns: 100_000_000n } }]

const plain = { spreadBps: 0, fiatMinor: 1_625_000n, feeMinor: 0n, ausdMicro: 100_000_000n }
const spread = { ...plain, spreadBps: 100, fiatMinor: 1_641_300n }

const examples: readonly (readonly [string, Omit<Row, 'state'>, readonly Example[]])[] = [
  ['a cash-out that is paid', plain, [taken, ['paying', {}], paid]],
  [
    'a cash-out at a quote with a spread of 1 %',
    spread,
    [
      [
        'taken',
        {
          IDR: { payouts: -1_641_300n, exchange: 1_625_050n, spread: 16_250n },
          AUSD: { treasury: 100_000_000n, exchange: -100_000_000n },
        },
      ],
      ['paying', {}],
      ['paid', { IDR: { provider_id: -1_641_300n, payouts: 1_641_300n } }],
    ],
  ],
  [
    'a cash-out with a fee of Rp 5,550',
    { ...plain, fiatMinor: 1_619_450n, feeMinor: 5_550n },
    [
      [
        'taken',
        {
          IDR: { payouts: -1_619_450n, exchange: 1_625_000n, fees_earned: -5_550n },
          AUSD: { treasury: 100_000_000n, exchange: -100_000_000n },
        },
      ],
      ['paying', {}],
      ['paid', { IDR: { provider_id: -1_619_450n, payouts: 1_619_450n } }],
    ],
  ],
  [
    'a cash-out while the market is closed, at a spread of -1 %',
    { ...plain, spreadBps: -100, fiatMinor: 1_608_750n },
    [
      [
        'taken',
        {
          IDR: { payouts: -1_608_750n, exchange: 1_625_000n, spread: -16_250n },
          AUSD: { treasury: 100_000_000n, exchange: -100_000_000n },
        },
      ],
      ['paying', {}],
      ['paid', { IDR: { provider_id: -1_608_750n, payouts: 1_608_750n } }],
    ],
  ],
  [
    'a cash-out that the bank refuses',
    plain,
    [
      taken,
      ['paying', {}],
      [
        'returning',
        {
          IDR: { payouts: 1_625_000n, exchange: -1_625_000n },
          AUSD: { returns: -100_000_000n, exchange: 100_000_000n },
        },
      ],
      returned,
    ],
  ],
  [
    'a cash-out that the bank sends back after it was paid',
    plain,
    [
      taken,
      ['paying', {}],
      paid,
      [
        'returning',
        {
          IDR: { provider_id: 1_625_000n, exchange: -1_625_000n },
          AUSD: { returns: -100_000_000n, exchange: 100_000_000n },
        },
      ],
      returned,
    ],
  ],
]

test.each(examples)('the books record %s step by step', (_, row, steps) => {
  let before: Position = []
  for (const [state, posting] of steps) {
    const after = positionOf({ ...row, state })
    expect({ state, ...postingOf(difference(before, after)) }).toEqual({ state, ...posting })
    before = after
  }
})

function postingOf(lines: Position): Posting {
  const posting: Posting = {}
  for (const { account, asset, amount } of lines) posting[asset] = { ...posting[asset], [account]: amount }
  return posting
}
