import type { Context } from './context'
import type { Tariff } from './records'

type Rate = Pick<Tariff, 'since' | 'bps'>

/** Returns the fee rates, oldest first. */
export const ratesOf = ({ book, config }: Context): readonly Rate[] => [
  { since: new Date(0).toISOString(), bps: config.feeBps },
  ...book.all('tariffs'),
]

/** Fee in minor units. The tax is added to it. */
export type Fee = {
  readonly feeMinor: bigint
  readonly taxMinor: bigint
  readonly status: 'COMPLETED' | 'PENDING' | 'CANCELED' | 'NOT_APPLICABLE'
}

const none: Fee = { feeMinor: 0n, taxMinor: 0n, status: 'NOT_APPLICABLE' }
const taxPercent = 11n

type Moved = {
  readonly type: string
  readonly status: string
  readonly amountMinor: bigint
  readonly createdAt: string
}

/** Returns the fee of a movement, which is due once the payment or payout has succeeded. */
export function feeOf(rates: readonly Rate[], row: Moved): Fee {
  const bps = rates.findLast(({ since }) => since <= row.createdAt)?.bps ?? 0
  if (bps === 0 || (row.type !== 'PAYMENT' && row.type !== 'DISBURSEMENT')) return none
  const feeMinor = (row.amountMinor * BigInt(bps)) / 10_000n
  const taxMinor = (feeMinor * taxPercent) / 100n
  if (row.status === 'SUCCESS') return { feeMinor, taxMinor, status: 'COMPLETED' }
  return { feeMinor, taxMinor, status: row.status === 'PENDING' ? 'PENDING' : 'CANCELED' }
}
