import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { getTableColumns, sql } from 'drizzle-orm'
import { type ScratchDatabase, startScratchDatabase } from '#test/support/scratch-postgres'
import { positionOf } from '../ledger/position'
import { type PaymentState, paymentStates, type Reason, reasons, wasCredited } from '../payment'
import { type PaymentRow, payments } from '../payment.table'

let scratch: ScratchDatabase
beforeAll(async () => {
  scratch = await startScratchDatabase('payments')
})
afterAll(() => scratch?.[Symbol.asyncDispose]())

type Row = Parameters<typeof positionOf>[0]

const columns = Object.entries(getTableColumns(payments)).map(
  ([field, column]) => [field as keyof PaymentRow, column.name] as const,
)
const asJson = (row: Row) =>
  Object.fromEntries(
    columns.map(([field, name]) => {
      const value = (row as Partial<PaymentRow>)[field]
      return [name, typeof value === 'bigint' ? String(value) : value]
    }),
  )

/** Returns the AUSD (10⁻⁶) that the trigger on the payments keeps for each row. */
async function reservedFor(rows: readonly Row[]): Promise<bigint[]> {
  const found = await scratch.database.read((db) =>
    db.execute<{ micro: string }>(sql`
      select payments.promised_of(p)::text as micro
      from jsonb_array_elements(${JSON.stringify(rows.map(asJson))}::jsonb) with ordinality e (row, at)
      cross join lateral jsonb_populate_record(null::payments.payments, e.row) p order by at`),
  )
  return found.map(({ micro }) => BigInt(micro))
}
const bookedFor = (row: Row) => -(positionOf(row).find(({ account }) => account === 'promises')?.amount ?? 0n)

const time = new Date('2026-11-20T00:00:00Z')
const opened: Row = {
  kind: 'topup',
  state: 'opening',
  account: 'ID',
  currency: 'IDR',
  reason: null,
  fiatMinor: 1_625_000n,
  rateMinorPerUsd: 16_250n,
  ausdMicro: 100_000_000n,
  feeMinor: 0n,
  topupFees: null,
  spreadBps: 0,
  expiresAt: null,
  providerPaymentId: null,
  held: null,
  paidMinor: null,
  onchainMicro: 0n,
  leftMicro: 0n,
  recoveredMicro: 0n,
  writtenOffMicro: 0n,
  overpaidMinor: 0n,
  overpaidRefundedMinor: 0n,
  refundedMinor: 0n,
  refundAppliedMinor: 0n,
  creditedAt: null,
  holdEndedAt: null,
}
const amounts: Partial<Row>[] = [
  {},
  { refundedMinor: 625_001n },
  { refundedMinor: 1_625_000n },
  { recoveredMicro: 40_000_000n },
  { recoveredMicro: 100_000_000n },
]
const unpaid: readonly PaymentState[] = ['opening', 'awaiting_payment', 'expired', 'replaced']
const uncredited: readonly PaymentState[] = [...unpaid, 'paid', 'refunded']
const credited: readonly PaymentState[] = ['held', 'credited', 'repaid', 'revoking', 'revoked']
const isPossible = (row: Row) =>
  row.providerPaymentId === null
    ? [...unpaid, 'review'].includes(row.state)
    : !unpaid.includes(row.state) &&
      !(uncredited.includes(row.state) && row.creditedAt) &&
      (!credited.includes(row.state) || wasCredited(row)) &&
      (row.reason !== 'awaiting_rate' || ['expired', 'replaced'].includes(row.state))

const rows = paymentStates.flatMap((state: PaymentState) =>
  [null, ...reasons].flatMap((reason: Reason | null) =>
    amounts.flatMap((some): Row[] => {
      const row = { ...opened, state, reason, ...some }
      const onchainMicro = row.ausdMicro - row.recoveredMicro
      const received = { providerPaymentId: 'py-1', paidMinor: row.fiatMinor }
      const paid = { ...row, ...received, onchainMicro }
      return [row, paid, { ...paid, creditedAt: time }].filter(isPossible)
    }),
  ),
)

describe('AUSD that the treasury keeps for payments', () => {
  test('is at least what the books owe for them, in every state for every reason', async () => {
    const reserved = await reservedFor(rows)
    const tooLittle = rows.filter((row, at) => {
      // A payment whose refund is ordered needs no cover: if the refund fails, the payment returns to review
      // and is covered again.
      const isGoingBack = row.state === 'refunding' && !wasCredited(row)
      return !isGoingBack && row.state !== 'accepted' && reserved[at]! < bookedFor(row)
    })
    expect(tooLittle).toEqual([])
    expect(rows.filter((row) => bookedFor(row) > 0n).length).toBeGreaterThan(100)
  })

  test('exceeds it only for a checkout that may be paid, late money without a rate, and a credit not decided', async () => {
    const reserved = await reservedFor(rows)
    const more = rows.filter((row, at) => reserved[at]! > bookedFor(row))
    const isExpected = ({ state, reason, providerPaymentId, creditedAt }: Row) =>
      ['opening', 'awaiting_payment'].includes(state) ||
      reason === 'awaiting_rate' ||
      (state === 'review' &&
        ['sender_unverified', 'excess_refused'].includes(reason ?? '') &&
        providerPaymentId !== null &&
        creditedAt === null)
    expect(more.filter((row) => !isExpected(row))).toEqual([])
    expect(more.length).toBeGreaterThan(100)
  })
})
