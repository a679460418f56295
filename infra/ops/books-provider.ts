import type { PaymentRow, PayoutRow, Rows } from '#infra/ops/books-rows'
import { fromProviderAmount } from '#shared/provider/amount'

type Money = { amount: number; currency: 'IDR' | 'MYR'; status: string }
/** The sandbox's book, as far as money is concerned, in the provider's own words. */
export type ProviderBook = {
  payments: {
    payment_id: string
    session_reference_id: string | null
    currency: 'IDR' | 'MYR'
    status: string
    captures: { capture_amount: number }[]
  }[]
  refunds: (Money & { payment_id: string })[]
  chargebacks: (Money & { payment_id: string })[]
  payouts: (Money & { id: string; reference_id: string })[]
}

/** The book; undefined when the sandbox cannot be reached. */
export async function readProviderBook(url: string): Promise<ProviderBook | undefined> {
  try {
    const answer = await fetch(`${url}/control/book`, { signal: AbortSignal.timeout(5_000) })
    return answer.ok ? ((await answer.json()) as ProviderBook) : undefined
  } catch {
    return undefined
  }
}

/** The services' rows and the provider's book against each other, in both directions. Pure. */
export const compareProvider = (rows: Rows, book: ProviderBook): string[] => [
  ...compareMoneyIn(rows.payments, book),
  ...compareMoneyOut(rows.payouts, book),
]

const minor = (amount: number, currency: 'IDR' | 'MYR'): bigint => {
  const exact = fromProviderAmount({ decimal: String(amount) }, currency)
  if (!exact) throw new Error(`${amount} ${currency} is not a whole smallest unit`)
  return exact.minor
}
const sum = (amounts: readonly bigint[]) => amounts.reduce((total, next) => total + next, 0n)

/** Of refunds and of chargebacks, in the provider's words. */
const gone: ReadonlySet<string> = new Set(['SUCCEEDED', 'SUCCESS'])

function compareMoneyIn(rows: readonly PaymentRow[], book: ProviderBook): string[] {
  const succeeded = book.payments.filter(({ status }) => status === 'SUCCEEDED')
  const byReference = Map.groupBy(succeeded, (payment) => payment.session_reference_id ?? '')
  const refundsOf = Map.groupBy(
    [...book.refunds, ...book.chargebacks].filter(({ status }) => gone.has(status)),
    ({ payment_id }) => payment_id,
  )
  const known = new Set(rows.map(({ id }) => id))
  const unknown = [...byReference.keys()].filter((reference) => !known.has(reference))
  return [
    ...unknown.map((reference) => `the provider has money for ${reference}, but no row has`),
    ...rows.flatMap((row) => {
      const charges = byReference.get(row.id) ?? []
      const paid = sum(
        charges.flatMap(({ captures, currency }) =>
          captures.map(({ capture_amount }) => minor(capture_amount, currency)),
        ),
      )
      const back = sum(
        charges.flatMap(({ payment_id }) =>
          (refundsOf.get(payment_id) ?? []).map((one) => minor(one.amount, one.currency)),
        ),
      )
      const name = `payment ${row.id} (${row.kind}, ${row.state})`
      const has = row.paidMinor + row.overpaidMinor
      return [
        ...(paid === has ? [] : [`${name} has ${has} ${row.currency}, the provider ${paid}`]),
        ...(back === row.refundedMinor
          ? []
          : [`${name} has ${row.refundedMinor} refunded, the provider ${back}`]),
      ]
    }),
  ]
}

/** States in which the bank must have been paid, or must not; any other may be on its way. */
const good = ['SUCCEEDED']
const bad = ['FAILED', 'REVERSED', 'CANCELLED', 'EXPIRED', 'COMPLIANCE_REJECTED']
const fitting: ReadonlyMap<string, readonly string[]> = new Map([
  ['taking', []],
  ['taken', []],
  ['failed', []],
  ['paid', good],
  ['returning', bad],
  ['returned', bad],
])

function compareMoneyOut(rows: readonly PayoutRow[], book: ProviderBook): string[] {
  const byReference = Map.groupBy(book.payouts, ({ reference_id }) => reference_id)
  const known = new Set(rows.map(({ id }) => id))
  return [
    ...book.payouts
      .filter(({ reference_id }) => !known.has(reference_id))
      .map(({ id }) => `the provider's payout ${id} belongs to no row`),
    ...rows.flatMap((row) => {
      const transfers = byReference.get(row.id) ?? []
      const name = `payout ${row.id} (${row.state})`
      const allowed = fitting.get(row.state)
      return [
        ...(transfers.length > 1
          ? [`${name}: the provider has ${transfers.length} transfers`]
          : []),
        ...(row.state === 'paid' && transfers.length === 0
          ? [`${name}: the provider has no transfer`]
          : []),
        ...transfers.flatMap(({ status, amount, currency }) => [
          ...(allowed && !allowed.includes(status) ? [`${name}: the provider says ${status}`] : []),
          ...(minor(amount, currency) === row.fiatMinor
            ? []
            : [`${name} is ${row.fiatMinor} ${currency}, the provider's ${amount}`]),
        ]),
      ]
    }),
  ]
}
