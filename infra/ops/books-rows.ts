import type { Hex } from 'viem'
import { withDatabase } from '#infra/ops/stack'
import { refOf } from '#shared/chain/ref'

/** A row of `payments.payments` as far as money is concerned; amounts in smallest units. */
export type PaymentRow = {
  id: string
  /** Of the payment and of its remainders; the last is the live one. */
  refs: Hex[]
  kind: 'topup' | 'settlement'
  state: string
  wallet: string
  /** What the live ref stands for; and what it should be by promise and refunds. */
  liveMicro: bigint
  promisedMicro: bigint
  held: boolean | null
  currency: 'IDR' | 'MYR'
  paidMinor: bigint
  overpaidMinor: bigint
  refundedMinor: bigint
}

/** A row of `payouts.payouts`; `takeKey` and `returnNonce` name its transfers on the chain. */
export type PayoutRow = {
  id: string
  state: string
  wallet: string
  ausdMicro: bigint
  fiatMinor: bigint
  takeKey: string
  returnNonce: Hex
}

export type Rows = { payments: PaymentRow[]; payouts: PayoutRow[] }

type Text = Record<string, string>

/** Both services' rows as one snapshot, read in a transaction that cannot write. */
export const readRows = (databaseUrl: string): Promise<Rows> =>
  withDatabase(databaseUrl, (sql) =>
    sql.begin('isolation level repeatable read read only', async (tx) => {
      const payments = await tx<(Text & { held: boolean | null })[]>`
        select id, kind, state, wallet, part, live_micro, held, currency,
          case when live_micro + offset_micro = 0 then 0 else
            div(ausd_micro * (fiat_minor - refund_applied_minor), fiat_minor)
              + waived_micro - offset_micro end as promised_micro, overpaid_minor, refunded_minor,
          coalesce(paid_minor, 0) as paid_minor
        from payments.payments`
      const payouts = await tx<Text[]>`
        select id, state, wallet, ausd_micro, fiat_minor, authorizer, authorization_nonce
        from payouts.payouts`
      return {
        payments: payments.map((row) => paymentOf(row, row.held)),
        payouts: payouts.map(payoutOf),
      }
    }),
  )

const paymentOf = (row: Text, held: boolean | null): PaymentRow => ({
  id: row.id!,
  refs: Array.from({ length: Number(row.part) + 1 }, (_, part) =>
    refOf(part === 0 ? row.id! : `${row.id}.${part}`),
  ),
  kind: row.kind as PaymentRow['kind'],
  state: row.state!,
  wallet: row.wallet!.toLowerCase(),
  liveMicro: BigInt(row.live_micro!),
  promisedMicro: BigInt(row.promised_micro!),
  held,
  currency: row.currency as PaymentRow['currency'],
  paidMinor: BigInt(row.paid_minor!),
  overpaidMinor: BigInt(row.overpaid_minor!),
  refundedMinor: BigInt(row.refunded_minor!),
})

const payoutOf = (row: Text): PayoutRow => ({
  id: row.id!,
  state: row.state!,
  wallet: row.wallet!.toLowerCase(),
  ausdMicro: BigInt(row.ausd_micro!),
  fiatMinor: BigInt(row.fiat_minor!),
  takeKey: `${row.authorizer}:${row.authorization_nonce}`.toLowerCase(),
  returnNonce: refOf(`return:${row.id}`),
})
