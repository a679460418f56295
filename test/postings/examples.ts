import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { accountNames } from '#shared/ledger/chart'
import { difference, type Line, type Position } from '#shared/ledger/position'
import { positionOf as positionOfPayment } from '../../services/payments/books/position'
import { positionOf as positionOfCashout } from '../../services/payouts/books/position'
import { root } from './postings'

// The worked examples of shared/ledger/README.md, worked out by the services' own positions.
// `bun test/postings/examples.ts` writes them there.

type Payment = Parameters<typeof positionOfPayment>[0]
type Cashout = Parameters<typeof positionOfCashout>[0]
type Step = readonly [event: string, position: Position]
type Example = { readonly title: string; readonly steps: readonly Step[]; readonly note?: string }

const time = new Date('2026-11-20T00:00:00Z')
const paidMinor = 1_625_000n
const worthMicro = 100_000_000n

const opened: Payment = {
  ...{ kind: 'topup', state: 'awaiting_payment', account: 'ID', currency: 'IDR', reason: null },
  ...{ fiatMinor: paidMinor, rateMinorPerUsd: 16_250n, spreadBps: 0, ausdMicro: worthMicro },
  ...{ expiresAt: time, providerPaymentId: null, held: null, paidMinor: null },
  ...{ liveMicro: 0n, offsetMicro: 0n, waivedMicro: 0n, creditedAt: null, holdEndedAt: null },
  ...{ refundedMinor: 0n, refundAppliedMinor: 0n, overpaidMinor: 0n },
  ...{ overpaidRefundedMinor: 0n, wonMinor: 0n },
}
const received = { providerPaymentId: 'py-1', paidMinor, liveMicro: worthMicro } as const
const paid = { ...received, state: 'paid', held: false } as const
const byCard = { ...paid, held: true } as const
const onChain = { creditedAt: time }
const refunded = { refundedMinor: paidMinor }
/** Somebody paid Rp 1,000,000 of what was asked for. */
const partMinor = 1_000_000n
const partMicro = 61_538_461n
const inReview: [string, Partial<Payment>] = [
  'awaiting_payment → review',
  { state: 'review', reason: 'amount_differs', providerPaymentId: 'py-1', paidMinor: partMinor },
]

/** The steps of one payment: what each changes in its row. */
function payment(first: Partial<Payment>, changes: readonly [string, Partial<Payment>][]): Step[] {
  let row = { ...opened, ...first }
  return changes.map(([event, change]) => {
    row = { ...row, ...change }
    return [event, positionOfPayment(row)] as const
  })
}
const cashout = (
  spreadBps: number,
  fiatMinor: bigint,
  states: readonly Cashout['state'][],
): Step[] =>
  states.map((state, at) => [
    `${states[at - 1] ?? 'taking'} → ${state}`,
    positionOfCashout({ state, spreadBps, fiatMinor, ausdMicro: worthMicro }),
  ])

export const examples: readonly Example[] = [
  {
    title: 'a top-up of Rp 1,625,000 by bank transfer',
    steps: payment({}, [
      ['awaiting_payment → paid', paid],
      ['paid → credited', { state: 'credited', ...onChain }],
    ]),
  },
  {
    title: 'one of Rp 1,641,300, at a quote with a spread of 1 %',
    steps: payment({ fiatMinor: 1_641_300n, rateMinorPerUsd: 16_413n, spreadBps: 100 }, [
      ['awaiting_payment → paid', { ...paid, paidMinor: 1_641_300n }],
      ['paid → credited', { state: 'credited', ...onChain }],
    ]),
  },
  {
    title: 'a top-up by card, refunded during its hold',
    steps: payment({}, [
      ['awaiting_payment → paid', byCard],
      ['paid → held', { state: 'held', ...onChain }],
      ['refund counted', refunded],
      ['held → revoking', { state: 'revoking' }],
      ['revoking → revoked', { state: 'revoked', liveMicro: 0n }],
    ]),
  },
  {
    title: 'a settlement by bank transfer, of which the debt took a part',
    note: 'What exceeds the debt becomes collateral of the same account: to us it is one sum, and the contract knows the two.',
    steps: payment({ kind: 'settlement' }, [
      ['awaiting_payment → paid', paid],
      ['paid → repaid', { state: 'repaid', ...onChain }],
    ]),
  },
  {
    title: 'a settlement by card, until its hold ended',
    steps: payment({ kind: 'settlement' }, [
      ['awaiting_payment → paid', byCard],
      ['paid → repaid', { state: 'repaid', ...onChain }],
      ['hold ended', { holdEndedAt: time }],
    ]),
  },
  {
    title: 'a settlement by card, reversed during its hold',
    steps: payment({ kind: 'settlement' }, [
      ['awaiting_payment → paid', byCard],
      ['paid → repaid', { state: 'repaid', ...onChain }],
      ['refund counted', refunded],
      ['repaid → revoking', { state: 'revoking' }],
      ['revoking → revoked', { state: 'revoked', liveMicro: 0n }],
    ]),
  },
  {
    title: 'a top-up charged back after its credit; the dispute is won',
    note: 'Until then the wallet owes it. If it is given up, `waived` takes it from `clawback`, under `<payment>/reversal`.',
    steps: payment({}, [
      ['awaiting_payment → paid', paid],
      ['paid → credited', { state: 'credited', ...onChain }],
      ['refund counted', refunded],
      ['credited → review', { state: 'review', reason: 'refunded_after_credit' }],
      ['dispute won', { wonMinor: paidMinor }],
    ]),
  },
  {
    title: 'late money: it waits for a rate, and is worth less by then',
    note: 'The spread of late money is that of its quote, of what the money was found to be worth.',
    steps: payment({ state: 'expired' }, [
      ['late money came', { providerPaymentId: 'py-1', reason: 'awaiting_rate' }],
      ['expired → paid', { ...paid, reason: null, ausdMicro: 96_153_846n, liveMicro: 96_153_846n }],
      ['paid → credited', { state: 'credited', ...onChain }],
    ]),
  },
  {
    title: 'a second payment of the same promise, refunded at the provider',
    steps: payment({}, [
      ['awaiting_payment → paid', paid],
      ['paid a second time', { overpaidMinor: paidMinor }],
      ['paid → review', { state: 'review', reason: 'paid_twice', ...onChain }],
      ['second payment refunded', { overpaidRefundedMinor: paidMinor }],
    ]),
  },
  {
    title: 'Rp 1,000,000 paid instead of Rp 1,625,000, which an operator gives back',
    steps: payment({}, [
      inReview,
      ['review → refunding', { state: 'refunding' }],
      ['refund counted', { refundedMinor: partMinor }],
      ['refunding → refunded', { state: 'refunded', reason: 'refunded_before_credit' }],
    ]),
  },
  {
    title: 'the same, which an operator credits',
    steps: payment({}, [
      inReview,
      [
        'review → paid',
        {
          ...{ state: 'paid', reason: null, held: false, fiatMinor: partMinor },
          ...{ ausdMicro: partMicro, liveMicro: partMicro },
        },
      ],
      ['paid → credited', { state: 'credited', ...onChain }],
    ]),
  },
  {
    title: 'the same, which an operator accepts',
    steps: payment({}, [inReview, ['review → accepted', { state: 'accepted' }]]),
  },
  {
    title: 'a cash-out of 100 AUSD, paid',
    steps: cashout(0, paidMinor, ['taken', 'paying', 'paid']),
  },
  {
    title: 'one at a quote with a spread of 1 %',
    steps: cashout(100, 1_641_300n, ['taken', 'paying', 'paid']),
  },
  {
    title: 'a cash-out that the bank refuses',
    steps: cashout(0, paidMinor, ['taken', 'paying', 'returning', 'returned']),
  },
  {
    title: 'a cash-out that the bank sends back after it was paid',
    steps: cashout(0, paidMinor, ['taken', 'paying', 'paid', 'returning', 'returned']),
  },
]

/** The examples as tables: what each step posts. */
export const tables = (): string =>
  examples
    .map(({ title, steps, note }) => {
      let before: Position = []
      const rows = steps.map(([event, after]) => {
        const lines = difference(before, after)
        before = after
        return `| \`${event}\` | ${wordsOf(lines, 'IDR')} | ${wordsOf(lines, 'AUSD')} |`
      })
      const table = [`| ${title} | IDR | AUSD |`, '| --- | --- | --- |', ...rows]
      return [table.join('\n'), ...(note ? [note] : [])].join('\n\n')
    })
    .join('\n\n')

const wordsOf = (lines: readonly Line[], asset: Line['asset']): string =>
  lines
    .filter((line) => line.asset === asset)
    .sort((a, b) => accountNames.indexOf(a.account) - accountNames.indexOf(b.account))
    .map(({ account, amount }) => `${account} ${amount > 0n ? '+' : '-'}${numberOf(amount, asset)}`)
    .join('; ')

function numberOf(amount: bigint, asset: Line['asset']): string {
  const size = amount < 0n ? -amount : amount
  if (asset === 'IDR') return size.toLocaleString('en')
  const decimals = (size % 1_000_000n).toString().padStart(6, '0').replace(/0+$/, '')
  return (size / 1_000_000n).toLocaleString('en') + (decimals && `.${decimals}`)
}

export const readme = join(root, 'shared/ledger/README.md')
const [begin, end] = ['<!-- examples -->\n\n', '\n\n<!-- end of examples -->']
/** What the README has between its two marks, and the README with something else there. */
export function between(text: string, other?: string): string {
  const [head = '', rest = ''] = text.split(begin)
  const [told = '', tail = ''] = rest.split(end)
  return other === undefined ? told : head + begin + other + end + tail
}

if (import.meta.main) writeFileSync(readme, between(readFileSync(readme, 'utf8'), tables()))
