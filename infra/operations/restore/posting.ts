import type { TransactionSql } from 'postgres'
import { providerOf } from '#shared/ledger/chart'
import { difference, type JournalLine, type Position, position, unbalanced } from '#shared/ledger/position'
import { givenFloor, spreadIncomeFloor } from '#shared/ledger/spread'
import type { Fiat } from '#shared/money/money'
import type { ProviderAccount } from '#shared/money/pair'

// Postings are computed independently of the services, so that a comparison is meaningful.

const event = 'put back'

type PaymentRow = {
  id: string
  state: string
  account: ProviderAccount
  currency: Fiat
  fiat_minor: string
  fee_minor: string
  ausd_micro: string
  spread_bps: number
  paid_minor: string | null
  /** Refunded amount. A present row may already include refunds. */
  refunded_minor: string
  /** Money beyond the promise, and its refunds: of a second charge, or the rest of an overpaid settlement. */
  overpaid_minor: string
  overpaid_refunded_minor: string
  provider_payment_id: string | null
}
export const paymentColumns = [
  'id',
  'state',
  'account',
  'currency',
  'fiat_minor',
  'fee_minor',
  'ausd_micro',
  'spread_bps',
  'paid_minor',
  'refunded_minor',
  'overpaid_minor',
  'overpaid_refunded_minor',
  'provider_payment_id',
]

/**
 * Books the committed AUSD for the amount that is not refunded. Reverses the suspense posting if a service recorded the
 * money as unmatched.
 */
export async function postPayments(tx: TransactionSql, rows: readonly PaymentRow[]): Promise<void> {
  for (const row of rows) {
    if (row.state !== 'paid') continue
    const { account, currency, spread_bps } = row
    const [fiatMinor, refundedMinor] = [BigInt(row.fiat_minor), BigInt(row.refunded_minor)]
    const beyondMinor = BigInt(row.overpaid_minor) - BigInt(row.overpaid_refunded_minor)
    const leftMinor = BigInt(row.paid_minor ?? row.fiat_minor) - refundedMinor + beyondMinor
    const exchangedMinor = refundedMinor < fiatMinor ? fiatMinor - refundedMinor : 0n
    const worthMicro = (BigInt(row.ausd_micro) * exchangedMinor) / fiatMinor
    const earnedMinor = (BigInt(row.fee_minor) * exchangedMinor) / fiatMinor
    const keptMicro = spreadIncomeFloor(worthMicro, spread_bps)
    if (row.provider_payment_id) await postAs(tx, 'payments', row.provider_payment_id, [])
    await postAs(tx, 'payments', row.id, [
      { account: providerOf[account], asset: currency, amount: leftMinor },
      { account: 'exchange', asset: currency, amount: earnedMinor - exchangedMinor },
      { account: 'fees_earned', asset: currency, amount: -earnedMinor },
      { account: 'suspense', asset: currency, amount: exchangedMinor - leftMinor },
      { account: 'exchange', asset: 'AUSD', amount: worthMicro + keptMicro },
      { account: 'spread', asset: 'AUSD', amount: -keptMicro },
      { account: 'promises', asset: 'AUSD', amount: -worthMicro },
    ])
  }
}

type PayoutRow = {
  id: string
  state: string
  fiat_minor: string
  fee_minor: string
  ausd_micro: string
  spread_bps: number
}

/** Books taken AUSD against owed rupiah if the payout was ordered, else against its return. */
export async function postPayouts(tx: TransactionSql, rows: readonly PayoutRow[]): Promise<void> {
  for (const { id, state, spread_bps, ...row } of rows) {
    if (state !== 'paying' && state !== 'returning') continue
    const [fiatMinor, feeMinor, ausdMicro] = [row.fiat_minor, row.fee_minor, row.ausd_micro].map(BigInt) as [
      bigint,
      bigint,
      bigint,
    ]
    const worthMinor = fiatMinor + feeMinor
    const givenMinor = givenFloor(worthMinor, spread_bps)
    const owed: JournalLine[] =
      state === 'returning'
        ? [{ account: 'returns', asset: 'AUSD', amount: -ausdMicro }]
        : [
            { account: 'exchange', asset: 'AUSD', amount: -ausdMicro },
            { account: 'exchange', asset: 'IDR', amount: worthMinor - givenMinor },
            { account: 'spread', asset: 'IDR', amount: givenMinor },
            { account: 'fees_earned', asset: 'IDR', amount: -feeMinor },
            { account: 'payouts', asset: 'IDR', amount: -fiatMinor },
          ]
    const taken: JournalLine = { account: 'treasury', asset: 'AUSD', amount: ausdMicro }
    await postAs(tx, 'payouts', id, [taken, ...owed])
  }
}

export async function postAs(
  tx: TransactionSql,
  service: 'payments' | 'payouts' | 'chain_relayer',
  item: string,
  lines: readonly JournalLine[],
): Promise<void> {
  const journal = tx(`${service}.journal`)
  const said = await tx<(Omit<JournalLine, 'amount'> & { amount: string })[]>`
    select account, asset, amount from ${journal} where item = ${item}`
  const before = said.map((line) => ({ ...line, amount: BigInt(line.amount) }))
  const moved: Position = difference(position(before), position(lines))
  if (unbalanced(moved).length > 0) throw new Error(`restored posting of ${item} does not balance`)
  if (moved.length === 0) return
  const posting = `${item}/${crypto.randomUUID()}`
  const rows = moved.map(({ account, asset, amount }, line) => ({
    posting,
    line,
    event,
    item,
    account,
    asset,
    amount: amount.toString(),
  }))
  await tx`insert into ${journal} ${tx(rows)}`
}
