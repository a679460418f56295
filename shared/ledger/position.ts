import { type AccountName, type Asset, chart } from '#shared/ledger/chart'

/** A line of the journal, whose amount is positive for debit and negative for credit, in the asset's smallest unit. */
export type JournalLine = {
  readonly account: AccountName
  readonly asset: Asset
  readonly amount: bigint
}

/** Position of one item (a payment, a cash-out, a transaction), computed from its row alone. */
export type Position = readonly JournalLine[]

/** Sums per account and asset, without zeros. Throws if the account does not have the asset. */
export function position(lines: readonly JournalLine[]): Position {
  const sums = new Map<string, JournalLine>()
  for (const line of lines) {
    const { account, asset, amount } = line
    if (!(chart[account].assets as readonly Asset[]).includes(asset)) throw new Error(`${account} has no ${asset}`)
    const key = `${account} ${asset}`
    sums.set(key, { account, asset, amount: (sums.get(key)?.amount ?? 0n) + amount })
  }
  return [...sums.values()].filter(({ amount }) => amount !== 0n)
}

/** Returns the lines that lead from one position to the other. */
export const difference = (before: Position, after: Position): Position =>
  position([...after, ...before.map((line) => ({ ...line, amount: -line.amount }))])

/** Returns the assets that do not sum to 0: such a posting would create or lose money. */
export function unbalanced(lines: readonly JournalLine[]): Asset[] {
  const sums = new Map<Asset, bigint>()
  for (const { asset, amount } of lines) sums.set(asset, (sums.get(asset) ?? 0n) + amount)
  return [...sums].filter(([, sum]) => sum !== 0n).map(([asset]) => asset)
}
