import { type Static, Type } from 'typebox'
import type { ProviderClient } from '#shared/provider/client'
import { dateFrom, idFrom, minorFrom, textFrom } from '#shared/provider/field'
import { ProviderUnknown } from '#shared/provider/problem'

export type ListedType = 'payment' | 'refund' | 'chargeback' | 'payout'

/** Status of a listed transaction. `unknown` is one that we have never seen, and never counts as success. */
export type ListedStatus = 'pending' | 'succeeded' | 'failed' | 'voided' | 'reversed' | 'unknown'

/** `settled`: the money is in the balance, also if it came early. */
export type Settlement = 'pending' | 'settled'

/** A row of the list, which is a hint: the object that it names is fetched by id. */
export type Listed = {
  readonly transactionId: string
  readonly type: ListedType | 'unknown'
  readonly status: ListedStatus
  /** Id of the object that moved the money, `py-…` for a payment; null if it is not safe in a path. */
  readonly productId: string | null
  /** Id of the payment request, which is documented for payments only. */
  readonly paymentRequestId: string | null
  /** Our reference, possibly with a suffix that the provider adds for payments. */
  readonly reference: string | null
  /** Channel in the list's own terms, such as `BNI`; it does not decide a hold. */
  readonly channel: string | null
  readonly currency: string | null
  /** Amount in the smallest unit; null if it is inexact or the currency is unknown. */
  readonly amountMinor: bigint | null
  readonly cashflow: 'in' | 'out' | null
  /** Fee including taxes; 0 if it is reversed or waived; null if it is inexact or not yet known. */
  readonly feeMinor: bigint | null
  /** Whether the provider has added the money to the balance; null if it reports neither. */
  readonly settlement: Settlement | null
  /** Time at which the provider expects to do so. */
  readonly settlesAt: Date | null
  readonly created: Date | null
  readonly updated: Date | null
}

/** A reading of the list. The list lags, so a window must begin well before the end of the previous one. */
export type ListingOrder = {
  /** Types to list; an empty list means all, including unknown ones. */
  readonly types: readonly ListedType[]
  readonly updatedFrom: Date
  readonly updatedTo?: Date
  readonly pagesMax?: number
}

/** Rows per page. No maximum is documented; 50 is the maximum of this provider's other lists. */
const rowsPerPage = 50
const pagesMaxDefault = 100

const typeWords: Readonly<Record<ListedType, string>> = {
  payment: 'PAYMENT',
  refund: 'REFUND',
  chargeback: 'CHARGEBACK',
  payout: 'DISBURSEMENT',
}
const types: ReadonlyMap<unknown, ListedType> = new Map(
  (Object.keys(typeWords) as ListedType[]).map((type) => [typeWords[type], type]),
)
const statuses: ReadonlyMap<unknown, ListedStatus> = new Map([
  ['PENDING', 'pending'],
  ['SUCCESS', 'succeeded'],
  ['FAILED', 'failed'],
  ['VOIDED', 'voided'],
  ['REVERSED', 'reversed'],
])
const cashflows: ReadonlyMap<unknown, 'in' | 'out'> = new Map([
  ['MONEY_IN', 'in'],
  ['MONEY_OUT', 'out'],
])

const settlements: ReadonlyMap<unknown, Settlement> = new Map([
  ['PENDING', 'pending'],
  ['SETTLED', 'settled'],
  ['EARLY_SETTLED', 'settled'],
])

/** Validates only the fields that paging needs, because one invalid field must not hide all other rows. */
const anything = Type.Optional(Type.Unknown())
const WireRow = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 255 }),
  type: anything,
  status: anything,
  product_id: anything,
  reference_id: anything,
  channel_code: anything,
  currency: anything,
  amount: anything,
  product_data: anything,
  cashflow: anything,
  fee: anything,
  settlement_status: anything,
  estimated_settlement_time: anything,
  created: anything,
  updated: anything,
})
const WirePage = Type.Object({ has_more: Type.Boolean(), data: Type.Array(WireRow) })

/**
 * Lists every row that changed within the window, unordered. Throws unless the list is complete. A row that changes
 * during paging may be missed, so the next window must overlap.
 */
export async function listTransactions(client: ProviderClient, order: ListingOrder): Promise<Listed[]> {
  const pagesMax = order.pagesMax ?? pagesMaxDefault
  const rows: Listed[] = []
  let afterId: string | undefined
  for (let page = 0; page < pagesMax; page++) {
    const { data, has_more: hasMore } = await pageOf(client, order, afterId)
    rows.push(...data.map(listedFrom))
    if (!hasMore) return rows
    const lastId = data.at(-1)?.id
    if (lastId === undefined || lastId === afterId)
      throw new ProviderUnknown('provider transaction list reports more rows but returned no further ones')
    afterId = lastId
  }
  throw new WindowTooWide(pagesMax)
}

class WindowTooWide extends ProviderUnknown {
  override name = 'WindowTooWide'
  constructor(pagesMax: number) {
    super(`provider transaction list has more than ${pagesMax} pages`)
  }
}

/**
 * Deadline of a page in ms. Half of it is for the turn: an instance may have one call a minute, and a list many pages.
 */
const pageDeadlineMs = 150_000

/** Smallest window that is split, in ms. */
const windowMinMs = 60_000

/** Width in ms of a first half if the window has no end, or one that our clock has not reached. */
const openHalfMs = 3_600_000

/**
 * Lists a window that may be too wide, by splitting it. A row that changes in the meantime may occur twice but is not
 * missed, because the later half is read later. A window without an end keeps none, to reach rows ahead of our clock.
 */
export async function listAllTransactions(client: ProviderClient, order: ListingOrder): Promise<Listed[]> {
  try {
    return await listTransactions(client, order)
  } catch (error) {
    const fromMs = order.updatedFrom.getTime()
    const toMs = order.updatedTo?.getTime() ?? Math.max(Date.now(), fromMs + 2 * openHalfMs)
    if (!(error instanceof WindowTooWide) || toMs - fromMs < 2 * windowMinMs) throw error
    const middle = new Date(Math.floor((fromMs + toMs) / 2))
    const earlier = await listAllTransactions(client, { ...order, updatedTo: middle })
    return [...earlier, ...(await listAllTransactions(client, { ...order, updatedFrom: middle }))]
  }
}

/** Returns true if the key lacks the permission *Transaction Read*, which only an operator can grant. */
export const lacksTransactionRead = (error: unknown): boolean =>
  error instanceof ProviderUnknown && error.refusal?.status === 403 && error.refusal.code !== 'UNAUTHORIZED_SENDER_IP'

async function pageOf(
  client: ProviderClient,
  { types, updatedFrom, updatedTo }: ListingOrder,
  afterId: string | undefined,
): Promise<Static<typeof WirePage>> {
  const query = new URLSearchParams([
    ...types.map((type) => ['types', typeWords[type]]),
    ['updated[gte]', updatedFrom.toISOString()],
    ...(updatedTo ? [['updated[lte]', updatedTo.toISOString()]] : []),
    ['limit', String(rowsPerPage)],
    ...(afterId === undefined ? [] : [['after_id', afterId]]),
  ])
  const asked = { schema: WirePage, deadlineMs: pageDeadlineMs }
  const answer = await client.get(`/transactions?${query}`, asked)
  if ('ok' in answer) return answer.ok
  const { refused: refusal } = answer
  const text = `provider refused the transaction list: ${refusal.status} ${refusal.code}`
  throw new ProviderUnknown(text, { refusal })
}

function listedFrom(wire: Static<typeof WireRow>): Listed {
  const currency = textFrom(wire.currency)
  return {
    transactionId: wire.id,
    type: types.get(wire.type) ?? 'unknown',
    status: statuses.get(wire.status) ?? 'unknown',
    productId: idFrom(wire.product_id),
    paymentRequestId: idFrom(fieldOf(wire.product_data, 'payment_request_id')),
    reference: textFrom(wire.reference_id),
    channel: textFrom(wire.channel_code),
    currency,
    amountMinor: minorFrom(wire.amount, currency),
    cashflow: cashflows.get(wire.cashflow) ?? null,
    feeMinor: feeFrom(wire.fee, currency),
    settlement: settlements.get(wire.settlement_status) ?? null,
    settlesAt: dateFrom(wire.estimated_settlement_time),
    created: dateFrom(wire.created),
    updated: dateFrom(wire.updated),
  }
}

/** Fee statuses that are final; in any other status the fee may still change. */
const kept: ReadonlySet<unknown> = new Set(['COMPLETED'])
const notKept: ReadonlySet<unknown> = new Set(['CANCELED', 'REVERSED', 'NOT_APPLICABLE'])
const feeParts = ['xendit_fee', 'value_added_tax', 'xendit_withholding_tax', 'third_party_withholding_tax'] as const

/** Adds the parts of a fee, of which only withholding taxes may be absent. */
function feeFrom(fee: unknown, currency: string | null): bigint | null {
  const status = fieldOf(fee, 'status')
  if (notKept.has(status)) return 0n
  if (!kept.has(status)) return null
  let sum = 0n
  for (const name of feeParts) {
    const part = fieldOf(fee, name) ?? (name.includes('withholding') ? '0' : null)
    const partMinor = minorFrom(part, currency)
    if (partMinor === null) return null
    sum += partMinor
  }
  return sum
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
