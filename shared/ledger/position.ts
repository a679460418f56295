import { type AccountName, type Asset, chart } from '#shared/ledger/chart'

/** So much onto an account: debit above 0, credit below, in the asset's smallest unit. */
export type Line = {
  readonly account: AccountName
  readonly asset: Asset
  readonly amount: bigint
}

/**
 * What one item (a payment, a cash-out, a transaction) comes to in the books. It follows from the
 * item's row alone, so a change of the row is booked as the difference of the two positions, and the
 * journal of an item always sums to the position of its row.
 */
export type Position = readonly Line[]

/** Lines without those of 0; throws on an asset that the account does not have. */
export function position(lines: readonly Line[]): Position {
  const sums = new Map<string, Line>()
  for (const line of lines) {
    const { account, asset, amount } = line
    if (!(chart[account].assets as readonly Asset[]).includes(asset))
      throw new Error(`${account} has no ${asset}`)
    const key = `${account} ${asset}`
    sums.set(key, { account, asset, amount: (sums.get(key)?.amount ?? 0n) + amount })
  }
  return [...sums.values()].filter(({ amount }) => amount !== 0n)
}

/** What leads from one position to the other. */
export const difference = (before: Position, after: Position): Position =>
  position([...after, ...before.map((line) => ({ ...line, amount: -line.amount }))])

/** The assets that do not come to 0: a posting with any would make money, or lose it. */
export function unbalanced(lines: readonly Line[]): Asset[] {
  const sums = new Map<Asset, bigint>()
  for (const { asset, amount } of lines) sums.set(asset, (sums.get(asset) ?? 0n) + amount)
  return [...sums].filter(([, sum]) => sum !== 0n).map(([asset]) => asset)
}
