import { type Static, Type } from 'typebox'
import type { ProviderClient } from '#shared/provider/client'
import { dateFrom, idFrom, minorFrom, textFrom } from '#shared/provider/field'
import { ProviderUnknown } from '#shared/provider/problem'

/** The movements of money that we ask the list for. */
export type ListedType = 'payment' | 'refund' | 'chargeback' | 'payout'

/** `unknown` is a word we have never seen; it never counts as success. */
export type ListedStatus = 'pending' | 'succeeded' | 'failed' | 'voided' | 'reversed' | 'unknown'

/** A row of the provider's list of transactions. It is a hint: what it names is fetched by its id. */
export type Listed = {
  readonly transactionId: string
  readonly type: ListedType | 'unknown'
  readonly status: ListedStatus
  /** The id of what moved the money, `py-…` of a payment; null when no path could hold it. */
  readonly productId: string | null
  /** Documented for payments alone. */
  readonly paymentRequestId: string | null
  /** Ours, perhaps with the suffix that the provider gives a payment's. */
  readonly reference: string | null
  /** In the list's own words, such as `ID_SHOPEEPAY` or `BNI`: not the channel that decides a hold. */
  readonly channel: string | null
  readonly currency: string | null
  /** In the smallest unit; null when it is not exact, or of a currency we do not know. */
  readonly amountMinor: bigint | null
  /** Whether it came into the account or left it; null when the list does not say. */
  readonly cashflow: 'in' | 'out' | null
  /**
   * What the provider kept for moving it, taxes included, in the smallest unit of the currency; 0 when
   * it took back or gave up its fee; null when it does not say exactly, or not yet.
   */
  readonly feeMinor: bigint | null
  readonly created: Date | null
  readonly updated: Date | null
}

/** What to list. The list lags behind, so a window begins well before the last one ended. */
export type ListingOrder = {
  /** Empty: every type, also those we do not know. */
  readonly types: readonly ListedType[]
  /** Only what changed at this moment or later. */
  readonly updatedFrom: Date
  /** And no later than this; left out: until now. */
  readonly updatedTo?: Date
  /** With more pages of 50 rows than this, the window counts as too wide. */
  readonly pagesMax?: number
}

/** No maximum is documented; 50 is the one that other lists of this provider have. */
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

/** One odd field must not hide all other rows: only what paging needs has to be of its form. */
const anything = Type.Optional(Type.Unknown())
const WireRow = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 255 }),
  ...{ type: anything, status: anything, product_id: anything, reference_id: anything },
  ...{ channel_code: anything, currency: anything, amount: anything, product_data: anything },
  ...{ cashflow: anything, fee: anything, created: anything, updated: anything },
})
const WirePage = Type.Object({ has_more: Type.Boolean(), data: Type.Array(WireRow) })

/**
 * Every row that changed within the window, in no order to rely on. Throws `ProviderUnknown` or
 * `ProviderBusy` whenever the list is not known to be whole: an error is never an empty list.
 * A row that changes while the pages are read may be missing; the next window must overlap.
 */
export async function listTransactions(
  client: ProviderClient,
  order: ListingOrder,
): Promise<Listed[]> {
  const pagesMax = order.pagesMax ?? pagesMaxDefault
  const rows: Listed[] = []
  let afterId: string | undefined
  for (let page = 0; page < pagesMax; page++) {
    const { data, has_more: hasMore } = await pageOf(client, order, afterId)
    rows.push(...data.map(listedFrom))
    if (!hasMore) return rows
    const lastId = data.at(-1)?.id
    if (lastId === undefined || lastId === afterId)
      throw new ProviderUnknown('the list of transactions has more, but does not go on')
    afterId = lastId
  }
  throw new WindowTooWide(pagesMax)
}

/** More rows changed in the window than are read in one go. */
export class WindowTooWide extends ProviderUnknown {
  override name = 'WindowTooWide'
  constructor(pagesMax: number) {
    super(`the list of transactions has more than ${pagesMax} pages`)
  }
}

/** No window is cut smaller than this. */
const windowMinMs = 60_000

/**
 * As `listTransactions`, however much there is: a window that is too wide is cut in two. A row that
 * changes meanwhile may come twice but is never missed, because the later half is read later.
 */
export async function listAllTransactions(
  client: ProviderClient,
  order: ListingOrder & { readonly updatedTo: Date },
): Promise<Listed[]> {
  try {
    return await listTransactions(client, order)
  } catch (error) {
    const fromMs = order.updatedFrom.getTime()
    const toMs = order.updatedTo.getTime()
    if (!(error instanceof WindowTooWide) || toMs - fromMs < 2 * windowMinMs) throw error
    const middle = new Date(Math.floor((fromMs + toMs) / 2))
    const earlier = await listAllTransactions(client, { ...order, updatedTo: middle })
    return [...earlier, ...(await listAllTransactions(client, { ...order, updatedFrom: middle }))]
  }
}

/** Whether the key lacks the permission *Transaction Read*, which only an operator can give it. */
export const lacksTransactionRead = (error: unknown): boolean =>
  error instanceof ProviderUnknown &&
  error.refusal?.status === 403 &&
  error.refusal.code !== 'UNAUTHORIZED_SENDER_IP'

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
  const answer = await client.get(`/transactions?${query}`, { schema: WirePage })
  if ('ok' in answer) return answer.ok
  const { refused: refusal } = answer
  const text = `the list of transactions was refused: ${refusal.status} ${refusal.code}`
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
    created: dateFrom(wire.created),
    updated: dateFrom(wire.updated),
  }
}

/** Taken for good; and never taken, or given back. A fee in any other status may still change. */
const kept: ReadonlySet<unknown> = new Set(['COMPLETED'])
const notKept: ReadonlySet<unknown> = new Set(['CANCELED', 'REVERSED', 'NOT_APPLICABLE'])
const feeParts = [
  ...(['xendit_fee', 'value_added_tax'] as const),
  ...(['xendit_withholding_tax', 'third_party_withholding_tax'] as const),
] as const

/** The sum of the parts. Only the taxes withheld may be left out: they are not part of every fee. */
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
