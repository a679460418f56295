/** Totals of a projection. Two indexers with equal totals did the same work. */
export type Totals = {
  readonly wallets: number
  readonly repayments: number
  readonly drawnMicro: string
  readonly qualified: number
  readonly short: number
  readonly late: number
  readonly defaulted: number
}

/** Returns a query of the totals. The tables hold wallets (`repay_count`, `drawn`) and cycles. */
export const totalsQuery = (wallets: string, drawn: string, cycles: string): string => `
  select
    (select count(*)::int from ${wallets}) as wallets,
    (select sum(repay_count)::int from ${wallets}) as repayments,
    (select sum(${drawn})::text from ${wallets}) as "drawnMicro",
    count(*) filter (where outcome = 'Qualified')::int as qualified,
    count(*) filter (where outcome = 'Short')::int as short,
    count(*) filter (where outcome = 'Late')::int as late,
    count(*) filter (where outcome = 'Defaulted')::int as defaulted
  from ${cycles}`
