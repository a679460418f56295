import { currencyOf } from '../account'
import type { Context } from '../context'
import { minorFromMajor } from '../money'
import { transactionStatuses } from '../records'
import type { HttpAnswer, ProviderCall, ProviderEndpoint } from './endpoint'
import { Problem, type ProblemDetail } from './problem'
import { channelCategories, type Transaction, transactionBody, transactionsOf } from './transaction'

/** Endpoint of the list. The real one needs the key permission `Transaction Read`. */
export const transactionEndpoints: readonly ProviderEndpoint[] = [{ method: 'GET', path: '/transactions', run: list }]

const pageDefault = 10
const pageMax = 50

const types: readonly string[] = [
  'ADJUSTMENT_ADD',
  'ADJUSTMENT_DEDUCT',
  'BNPL_PARTNER_SETTLEMENT_CREDIT',
  'BNPL_PARTNER_SETTLEMENT_DEBIT',
  'CASHBACK_FEE',
  'CASHBACK_VAT',
  'CHARGEBACK',
  'CONVERSION',
  'DISBURSEMENT',
  'FOREX_DEDUCTION',
  'FOREX_DEPOSIT',
  'IN_PERSON_PAYMENT',
  'LOAN_REPAYMENT',
  'OTHER',
  'PAYMENT',
  'REFUND',
  'REMITTANCE',
  'REMITTANCE_PAYOUT',
  'REMITTANCE_COLLECTION_PAYMENT',
  'RESERVES_HOLD',
  'RESERVES_RELEASE',
  'TOPUP',
  'TRANSFER_IN',
  'TRANSFER_OUT',
  'WITHDRAWAL',
]
const currencies: readonly string[] = ['IDR', 'PHP', 'USD', 'VND', 'THB', 'MYR', 'SGD', 'EUR', 'GBP', 'HKD', 'AUD']

type Word = {
  readonly allows: (text: string) => boolean
  readonly fits?: (texts: readonly string[]) => (row: Transaction) => boolean
}

const listed = (allowed: readonly string[], of: (row: Transaction) => string): Word => ({
  allows: (text) => allowed.includes(text),
  fits: (texts) => (row) => texts.includes(of(row)),
})
const exact = (of: (row: Transaction) => string | null): Word => ({
  allows: (text) => text.length >= 1 && text.length <= 255,
  fits:
    ([text]) =>
    (row) =>
      of(row) === text,
})
const moment = (fits: (row: Transaction, ms: number) => boolean): Word => ({
  allows: (text) => !Number.isNaN(Date.parse(text)),
  fits: ([text = '']) => {
    const ms = Date.parse(text)
    return (row) => fits(row, ms)
  },
})
const cursor: Word = { allows: (text) => text !== '' }

const words = new Map<string, Word>([
  ['types', listed(types, (row) => row.type)],
  ['statuses', listed(transactionStatuses, (row) => row.status)],
  ['channel_categories', listed(channelCategories, (row) => row.category)],
  ['reference_id', exact((row) => row.referenceId)],
  ['product_id', exact((row) => row.productId)],
  ['account_identifier', exact((row) => row.accountIdentifier)],
  ['currency', listed(currencies, (row) => currencyOf[row.account])],
  [
    'amount',
    {
      allows: (text) => /^\d+(\.\d+)?$/.test(text),
      fits:
        ([text]) =>
        (row) =>
          row.amountMinor === minorFromMajor(Number(text), currencyOf[row.account]),
    },
  ],
  ['created[gte]', moment((row, ms) => row.createdMs >= ms)],
  ['created[lte]', moment((row, ms) => row.createdMs <= ms)],
  ['updated[gte]', moment((row, ms) => row.updatedMs >= ms)],
  ['updated[lte]', moment((row, ms) => row.updatedMs <= ms)],
  ['limit', { allows: (text) => /^[1-9]\d?$/.test(text) && Number(text) <= pageMax }],
  ['after_id', cursor],
  ['before_id', cursor],
])

function list(context: Context, { account, query }: ProviderCall): HttpAnswer {
  if (context.chance.hits(context.faults.api.forbidList)) {
    const message = 'The API key is forbidden to perform this request: it needs Transaction Read'
    throw new Problem('REQUEST_FORBIDDEN_ERROR', message)
  }
  refuseUnreadable(query)
  const all = transactionsOf(context, account)
  const rows = all.filter(fitsQuery(query)).sort(newestFirst)
  const limit = Number(query.get('limit') ?? pageDefault)
  const before = rowAt(all, query, 'before_id')
  if (before) {
    const newer = rows.filter((row) => newestFirst(row, before) < 0)
    return pageOf(context, newer.slice(-limit), newer.length > limit, query, 'before_id')
  }
  const after = rowAt(all, query, 'after_id')
  const older = after ? rows.filter((row) => newestFirst(row, after) > 0) : rows
  return pageOf(context, older.slice(0, limit), older.length > limit, query, 'after_id')
}

type Cursor = 'after_id' | 'before_id'

function pageOf(
  context: Context,
  rows: readonly Transaction[],
  hasMore: boolean,
  query: URLSearchParams,
  direction: Cursor,
): HttpAnswer {
  const onward = new URLSearchParams(query)
  const edge = direction === 'after_id' ? rows.at(-1) : rows[0]
  if (edge) onward.set(direction, edge.id)
  const links = hasMore ? [{ href: `/transactions?${onward}`, rel: 'next', method: 'GET' }] : []
  return {
    body: { has_more: hasMore, data: rows.map((row) => shown(context, row)), links },
  }
}

function shown(context: Context, row: Transaction): Record<string, unknown> {
  const body = transactionBody(context, row)
  const { api } = context.faults
  const isNameless = row.nameless || (row.type === 'REFUND' && context.chance.hits(api.namelessRefunds))
  const odd = { created: 0, updated: '0001-01-01T00:00:00Z' }
  return {
    ...body,
    ...(isNameless ? { product_id: null } : {}),
    ...(context.chance.hits(api.oddTimes) ? odd : {}),
  }
}

/** Orders rows by `created`, as documented. Rows of one millisecond have a fixed order too. */
function newestFirst(a: Transaction, b: Transaction): number {
  if (a.createdMs !== b.createdMs) return b.createdMs - a.createdMs
  return a.id === b.id ? 0 : a.id < b.id ? 1 : -1
}

function fitsQuery(query: URLSearchParams): (row: Transaction) => boolean {
  const tests = [...new Set(query.keys())].flatMap((name) => words.get(name)?.fits?.(query.getAll(name)) ?? [])
  return (row) => tests.every((fits) => fits(row))
}

function rowAt(rows: readonly Transaction[], query: URLSearchParams, direction: Cursor): Transaction | undefined {
  const id = query.get(direction)
  if (id === null) return undefined
  const row = rows.find((candidate) => candidate.id === id)
  if (!row) throw wrongQuery([{ path: `/query/${direction}`, message: 'must be a known id' }])
  return row
}

function refuseUnreadable(query: URLSearchParams): void {
  const wrong = [...query].flatMap(([name, text]): ProblemDetail[] => {
    const word = words.get(name)
    const path = `/query/${name}`
    if (!word) return [{ path, message: 'must NOT be an additional property' }]
    return word.allows(text) ? [] : [{ path, message: 'must be an allowed value' }]
  })
  if (query.has('after_id') && query.has('before_id')) {
    wrong.push({ path: '/query/before_id', message: 'must NOT be given with after_id' })
  }
  if (wrong.length > 0) throw wrongQuery(wrong)
}

const wrongQuery = (wrong: readonly ProblemDetail[]): Problem =>
  new Problem('API_VALIDATION_ERROR', `request${wrong[0]?.path} ${wrong[0]?.message}`, wrong)
