import { PgDialect } from 'drizzle-orm/pg-core'
import type { TransactionSql } from 'postgres'
import { timeFrom } from '#infra/operations/timeline/search'
import { erasure as chainRelayer } from '../../../services/chain-relayer/operations/erase'
import { erasure as gateway } from '../../../services/gateway/users/erase'
import { erasure as payments } from '../../../services/payments/review/erase'
import { erasure as payouts } from '../../../services/payouts/person/erase'
import { type Provider, paidStatus } from './provider'

/** Erased wallets, with the time of the latest erasure. */
export type Erased = ReadonlyMap<string, Date>

/** Reads `<wallet>@<time>` as `ops persons erased` prints it. Throws on any other form. */
export function readErased(words: readonly string[]): Erased {
  return new Map(
    words.map((word) => {
      const [wallet = '', time = ''] = word.split('@')
      const at = timeFrom(time)
      if (!/^0x[0-9a-f]{40}$/.test(wallet) || !at) throw new Error(`${word} is not <wallet>@<time>`)
      return [wallet, at]
    }),
  )
}

const dialect = new PgDialect()

/**
 * Finds the cash-outs of erased wallets that a bank has paid, by the provider. Their bank details outlive an erasure, but
 * the rows of a backup may have them open. Throws if the provider refuses.
 */
export async function findPaid(
  erased: Erased,
  open: ReadonlyMap<string, string>,
  { payoutsOf }: Pick<Provider, 'payoutsOf'>,
): Promise<string[]> {
  const paid: string[] = []
  for (const [id, wallet] of open) {
    if (!erased.has(wallet)) continue
    const found = await payoutsOf(id)
    if (found.some(({ status }) => status === paidStatus)) paid.push(id)
  }
  return paid
}

/** Erases the data that a backup from before an erasure has brought back, in the way the services erased it. */
export async function eraseAgain(tx: TransactionSql, erased: Erased, paidCashouts: readonly string[]): Promise<void> {
  for (const [wallet, erasedAt] of erased)
    for (const { empty } of [chainRelayer, payouts, payments, gateway])
      for (const statement of empty(wallet, { erasedAt, paidCashouts })) {
        const { sql: text, params } = dialect.sqlToQuery(statement)
        await tx.unsafe(text, params as string[])
      }
}
