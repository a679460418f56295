import { expect, test } from 'bun:test'
import type { AccountName, Asset } from '#shared/ledger/chart'
import { difference, type Position } from '#shared/ledger/position'
import { positionOf } from './position'

// All examples use a rate of Rp 16,250 per dollar.

type Row = Parameters<typeof positionOf>[0]
type Posting = Partial<Record<Asset, Partial<Record<AccountName, bigint>>>>
type Example = readonly [event: string, change: Partial<Row>, posting: Posting]

const time = new Date('2026-11-20T00:00:00Z')
const [fiat, ausd] = [1_625_000n, 100_000_000n]
const opened: Row = {
  kind: 'topup',
  state: 'awaiting_payment',
  account: 'ID',
  currency: 'IDR',
  reason: null,
  fiatMinor: fiat,
  rateMinorPerUsd: 16_250n,
  spreadBps: 0,
  ausdMicro: ausd,
  feeMinor: 0n,
  topupFees: null,
  expiresAt: time,
  providerPaymentId: null,
  held: null,
  paidMinor: null,
  onchainMicro: 0n,
  leftMicro: 0n,
  recoveredMicro: 0n,
  writtenOffMicro: 0n,
  creditedAt: null,
  holdEndedAt: null,
  refundedMinor: 0n,
  refundAppliedMinor: 0n,
  overpaidMinor: 0n,
  overpaidRefundedMinor: 0n,
}
const settlement: Row = { ...opened, kind: 'settlement' }

const received = { providerPaymentId: 'py-1', paidMinor: fiat, onchainMicro: ausd } as const
const arrival: Posting = {
  IDR: { provider_id: 1_625_000n, exchange: -1_625_000n },
  AUSD: { promises: -100_000_000n, exchange: 100_000_000n },
}
const byBank: Example = ['awaiting_payment → paid', { ...received, state: 'paid', held: false }, arrival]
const byCard: Example = ['awaiting_payment → paid', { ...received, state: 'paid', held: true }, arrival]
const onChain = (owner: AccountName, micro = ausd): Posting => ({
  AUSD: { treasury: -micro, credit_line: micro, promises: micro, [owner]: -micro },
})
const credited: Example = ['paid → credited', { state: 'credited', creditedAt: time }, onChain('collateral')]
const refunded: Example = [
  'refund counted',
  { refundedMinor: fiat },
  {
    IDR: { provider_id: -1_625_000n, exchange: 1_625_000n },
    AUSD: { clawback: 100_000_000n, exchange: -100_000_000n },
  },
]
const revoked = (owner: AccountName): Example => [
  'revoking → revoked',
  { state: 'revoked', onchainMicro: 0n },
  {
    AUSD: {
      treasury: 100_000_000n,
      credit_line: -100_000_000n,
      clawback: -100_000_000n,
      [owner]: 100_000_000n,
    },
  },
]
const part = 1_000_000n
const partMicro = 61_538_461n
const differs: Example = [
  'awaiting_payment → review',
  { state: 'review', reason: 'amount_differs', providerPaymentId: 'py-1', paidMinor: part },
  { IDR: { provider_id: 1_000_000n, suspense: -1_000_000n } },
]

const examples: readonly (readonly [title: string, first: Row, steps: readonly Example[]])[] = [
  ['a top-up by bank transfer', opened, [byBank, credited]],
  [
    'a top-up at a quote with a spread of 1 %',
    { ...opened, fiatMinor: 1_641_300n, rateMinorPerUsd: 16_413n, spreadBps: 100 },
    [
      [
        'awaiting_payment → paid',
        { ...received, state: 'paid', held: false, paidMinor: 1_641_300n },
        {
          IDR: { provider_id: 1_641_300n, exchange: -1_641_300n },
          AUSD: { promises: -100_000_000n, exchange: 101_000_000n, spread: -1_000_000n },
        },
      ],
      credited,
    ],
  ],
  [
    'a top-up by card with a fee of Rp 65,000 of which a quarter, and then the rest, is refunded during its hold',
    opened,
    [
      [
        'awaiting_payment → paid',
        {
          ...received,
          state: 'paid',
          held: true,
          feeMinor: 65_000n,
          ausdMicro: 96_000_000n,
          onchainMicro: 96_000_000n,
        },
        {
          IDR: { provider_id: 1_625_000n, exchange: -1_560_000n, fees_earned: -65_000n },
          AUSD: { promises: -96_000_000n, exchange: 96_000_000n },
        },
      ],
      ['paid → held', { state: 'held', creditedAt: time }, onChain('collateral_held', 96_000_000n)],
      [
        'refund counted',
        { refundedMinor: 406_250n },
        {
          IDR: { provider_id: -406_250n, exchange: 390_000n, fees_earned: 16_250n },
          AUSD: { clawback: 24_000_000n, exchange: -24_000_000n },
        },
      ],
      ['held → revoking', { state: 'revoking', leftMicro: 72_000_000n }, {}],
      [
        'refund counted',
        { refundedMinor: fiat, leftMicro: 0n },
        {
          IDR: { provider_id: -1_218_750n, exchange: 1_170_000n, fees_earned: 48_750n },
          AUSD: { clawback: 72_000_000n, exchange: -72_000_000n },
        },
      ],
      [
        'revoking → revoked',
        { state: 'revoked', onchainMicro: 0n },
        {
          AUSD: {
            treasury: 96_000_000n,
            credit_line: -96_000_000n,
            clawback: -96_000_000n,
            collateral_held: 96_000_000n,
          },
        },
      ],
    ],
  ],
  [
    'a top-up by card that is refunded during its hold',
    opened,
    [
      byCard,
      ['paid → held', { state: 'held', creditedAt: time }, onChain('collateral_held')],
      refunded,
      ['held → revoking', { state: 'revoking' }, {}],
      revoked('collateral_held'),
    ],
  ],
  [
    'a top-up by card of which a quarter is refunded during its hold',
    opened,
    [
      byCard,
      ['paid → held', { state: 'held', creditedAt: time }, onChain('collateral_held')],
      [
        'refund counted',
        { refundedMinor: 406_250n },
        {
          IDR: { provider_id: -406_250n, exchange: 406_250n },
          AUSD: { clawback: 25_000_000n, exchange: -25_000_000n },
        },
      ],
      ['held → revoking', { state: 'revoking', leftMicro: 75_000_000n }, {}],
      [
        'revoking → held',
        { state: 'held', onchainMicro: 75_000_000n },
        {
          AUSD: {
            treasury: 25_000_000n,
            credit_line: -25_000_000n,
            clawback: -25_000_000n,
            collateral_held: 25_000_000n,
          },
        },
      ],
    ],
  ],
  [
    'a settlement by bank transfer, including any excess over the debt,',
    settlement,
    [byBank, ['paid → repaid', { state: 'repaid', creditedAt: time }, onChain('repaid')]],
  ],
  [
    'a settlement by card whose hold ends',
    settlement,
    [
      byCard,
      ['paid → repaid', { state: 'repaid', creditedAt: time }, onChain('repaid_held')],
      ['hold ended', { holdEndedAt: time }, { AUSD: { repaid: -100_000_000n, repaid_held: 100_000_000n } }],
    ],
  ],
  [
    'a settlement by card that is reversed during its hold',
    settlement,
    [
      byCard,
      ['paid → repaid', { state: 'repaid', creditedAt: time }, onChain('repaid_held')],
      refunded,
      ['repaid → revoking', { state: 'revoking' }, {}],
      revoked('repaid_held'),
    ],
  ],
  [
    'a top-up that is charged back after its credit, with the dispute won,',
    opened,
    [
      byBank,
      credited,
      refunded,
      ['credited → review', { state: 'review', reason: 'refunded_after_credit' }, {}],
      [
        'dispute won',
        { refundedMinor: 0n },
        {
          IDR: { provider_id: 1_625_000n, exchange: -1_625_000n },
          AUSD: { clawback: -100_000_000n, exchange: 100_000_000n },
        },
      ],
    ],
  ],
  [
    'a late payment that waits for a rate and is worth less by then',
    { ...opened, state: 'expired' },
    [
      [
        'late money came',
        { providerPaymentId: 'py-1', paidMinor: fiat, reason: 'awaiting_rate' },
        { IDR: { provider_id: 1_625_000n, suspense: -1_625_000n } },
      ],
      [
        'expired → paid',
        {
          state: 'paid',
          reason: null,
          held: false,
          ausdMicro: 96_153_846n,
          onchainMicro: 96_153_846n,
        },
        {
          IDR: { suspense: 1_625_000n, exchange: -1_625_000n },
          AUSD: { promises: -96_153_846n, exchange: 96_153_846n },
        },
      ],
      ['paid → credited', { state: 'credited', creditedAt: time }, onChain('collateral', 96_153_846n)],
    ],
  ],
  [
    'a checkout that is paid twice, with the second payment refunded,',
    opened,
    [
      byBank,
      ['paid a second time', { overpaidMinor: fiat }, { IDR: { provider_id: 1_625_000n, suspense: -1_625_000n } }],
      ['paid → review', { state: 'review', reason: 'paid_twice', creditedAt: time }, onChain('collateral')],
      [
        'second payment refunded',
        { overpaidRefundedMinor: fiat },
        { IDR: { provider_id: -1_625_000n, suspense: 1_625_000n } },
      ],
    ],
  ],
  [
    'a payment of a different amount that an operator refunds',
    opened,
    [
      differs,
      ['review → refunding', { state: 'refunding' }, {}],
      ['refund counted', { refundedMinor: part }, { IDR: { provider_id: -1_000_000n, suspense: 1_000_000n } }],
      ['refunding → refunded', { state: 'refunded', reason: 'refunded_before_credit' }, {}],
    ],
  ],
  [
    'a payment of a different amount that an operator credits',
    opened,
    [
      differs,
      [
        'review → paid',
        {
          state: 'paid',
          reason: null,
          held: false,
          fiatMinor: part,
          ausdMicro: partMicro,
          onchainMicro: partMicro,
        },
        {
          IDR: { suspense: 1_000_000n, exchange: -1_000_000n },
          AUSD: { promises: -61_538_461n, exchange: 61_538_461n },
        },
      ],
      ['paid → credited', { state: 'credited', creditedAt: time }, onChain('collateral', partMicro)],
    ],
  ],
  [
    'a payment of a different amount that an operator accepts',
    opened,
    [differs, ['review → accepted', { state: 'accepted' }, { IDR: { suspense: 1_000_000n, capital: -1_000_000n } }]],
  ],
]

test.each(examples)('the books record %s step by step', (_, first, steps) => {
  let row = first
  let before: Position = []
  for (const [event, change, posting] of steps) {
    row = { ...row, ...change }
    const after = positionOf(row)
    expect({ event, ...postingOf(difference(before, after)) }).toEqual({ event, ...posting })
    before = after
  }
})

function postingOf(lines: Position): Posting {
  const posting: Posting = {}
  for (const { account, asset, amount } of lines) posting[asset] = { ...posting[asset], [account]: amount }
  return posting
}
