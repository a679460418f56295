import { isPlain } from '#infra/operations/text'
import { isWallet } from '#infra/operations/timeline/find'
import {
  type ItemCriteria,
  type ItemKind,
  itemColumns,
  itemKinds,
  type ListedItem,
  type Period,
  whens,
} from '#infra/operations/timeline/items'
import { accountDigits } from '#shared/messages/payouts'
import { homePair, namedDayStartMs } from '#shared/money/day'
import { type Currency, currencies } from '#shared/money/money'
import { fromPlainAmount } from '#shared/money/text'
import { operationStates } from '../../../services/chain-relayer/operations/operation'
import { paymentStates } from '../../../services/payments/payment'
import { cashoutStates } from '../../../services/payouts/cashout'

// One search of operators, for the console and for `ops find`.

export const searchFields = [
  'amount',
  'currency',
  'from',
  'to',
  'when',
  'kind',
  'state',
  'channel',
  'wallet',
  'receipt',
  'digits',
] as const
type SearchField = (typeof searchFields)[number]

/** A search as an operator types it. Times have a zone, or are days in Jakarta; the amount is in major units. */
export type Search = { readonly [field in SearchField]?: string | undefined }

/** Reads the typed fields, without the spaces that were pasted with them. */
export const searchFrom = (typed: Search): Search =>
  Object.fromEntries(searchFields.map((field) => [field, typed[field]?.trim()]))

/** Longest receipt that is stored. */
const receiptMax = 64
/** Most items of each table that are listed. */
export const listedMax = 200
/** Length of a period whose start is not given, in ms. */
const defaultMs = 7 * 86_400_000

/**
 * Reads a time: a day as the reports count it, `2026-11-24`, or a time with its zone, `2026-11-24T02:00Z` or
 * `2026-11-24T09:00+07:00`. Returns undefined for anything else.
 */
export function timeFrom(text: string): Date | undefined {
  const dayMs = namedDayStartMs(homePair, text)
  if (dayMs !== undefined) return new Date(dayMs)
  const isZoned = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/.test(text)
  // `Date.parse` takes 30 February for 2 March.
  const isOfDay = namedDayStartMs(homePair, text.slice(0, 10)) !== undefined
  const atMs = isZoned && isOfDay ? Date.parse(text) : Number.NaN
  return Number.isNaN(atMs) ? undefined : new Date(atMs)
}

const amountOf = ({ amount, currency }: Search): ItemCriteria['amount'] => {
  if (amount === undefined) return undefined
  const minor = fromPlainAmount(amount, String(currency))
  return minor === undefined ? undefined : { minor, currency: currency as Currency }
}

const statesOf: Readonly<Record<ItemKind, readonly string[]>> = {
  topup: paymentStates,
  settlement: paymentStates,
  cashout: cashoutStates,
  send: operationStates,
}

/** Returns the kinds that a search is restricted to, if it is. */
function kindsOf({ kind, receipt, digits }: Search): readonly ItemKind[] | undefined {
  if (kind !== undefined) return [kind as ItemKind]
  if (receipt !== undefined) return ['topup', 'settlement']
  return digits === undefined ? undefined : ['cashout']
}

/** Reads a state as the tables have it, or with spaces, as the console shows it. */
const stateOf = ({ state }: Search): string | undefined => state?.toLowerCase().replaceAll(' ', '_')

function stateFault(search: Search): string | undefined {
  const [state, kinds] = [stateOf(search), kindsOf(search)]
  const states = [...new Set((kinds ?? itemKinds).flatMap((kind) => statesOf[kind]))]
  if (state === undefined || states.includes(state)) return undefined
  const owner = kinds ? ` of ${kinds.join(', ')}` : ''
  return `unknown state ${search.state}${owner}; choose one of ${states.join(', ')}`
}

/** Writes a field as its operator sees it, such as `--amount`. */
type NameOf = (field: SearchField) => string

/** Returns what is wrong with a period, or undefined. */
export function periodFault({ from, to }: Pick<Search, 'from' | 'to'>, nameOf: NameOf, now: Date): string | undefined {
  for (const time of [from, to])
    if (time !== undefined && !timeFrom(time))
      return `${time} is not a time, such as 2026-11-24, 2026-11-24T02:00Z or 2026-11-24T09:00+07:00`
  if (from === undefined) return undefined
  if (to !== undefined && timeFrom(from)! >= timeFrom(to)!) return `${nameOf('from')} must be before ${nameOf('to')}`
  return timeFrom(from)! >= now ? `${nameOf('from')} is in the future` : undefined
}

function fieldFault(search: Search, nameOf: NameOf): string | undefined {
  const empty = searchFields.find((field) => search[field] === '')
  if (empty) return `${nameOf(empty)} is empty`
  const strange = searchFields.find((field) => !isPlain(search[field] ?? ''))
  return strange && `${nameOf(strange)} contains a control character`
}

/** Returns what is wrong with a search, or undefined. */
export function faultInSearch(search: Search, nameOf: NameOf, now: Date): string | undefined {
  const { amount, currency, when, kind, wallet, receipt, digits } = search
  const wrong = fieldFault(search, nameOf) ?? periodFault(search, nameOf, now)
  if (wrong !== undefined) return wrong
  if (currency !== undefined && !currencies.some((one) => one === currency))
    return `unknown currency ${currency}; choose one of ${currencies.join(', ')}`
  if ((amount === undefined) !== (currency === undefined))
    return `${nameOf('amount')} and ${nameOf('currency')} belong together`
  if (amount !== undefined && !amountOf(search))
    return `${nameOf('amount')} ${amount} is not an amount in ${currency}, such as 50000`
  if (kind !== undefined && !itemKinds.some((one) => one === kind))
    return `unknown kind ${kind}; choose one of ${itemKinds.join(', ')}`
  if (when !== undefined && !whens.some((one) => one === when))
    return `unknown period ${when}; choose one of ${whens.join(', ')}`
  if (wallet !== undefined && !isWallet(wallet)) return 'expected a wallet: 0x and 40 hex digits'
  if (kind === 'send' && wallet === undefined) return `sends are found with ${nameOf('wallet')} only`
  if (digits !== undefined && !accountDigits.test(digits))
    return 'expected the last digits of a bank account, at least three'
  if (receipt !== undefined && digits !== undefined)
    return `${nameOf('receipt')} is of a payment and ${nameOf('digits')} are of a cash-out: choose one`
  if (receipt !== undefined && kind !== undefined && kind !== 'topup' && kind !== 'settlement')
    return `${nameOf('receipt')} finds top-ups and settlements only`
  if (digits !== undefined && kind !== undefined && kind !== 'cashout') return `${nameOf('digits')} find cash-outs only`
  if (receipt !== undefined && receipt.length > receiptMax) return `a receipt has at most ${receiptMax} characters`
  return stateFault(search)
}

/**
 * Returns the criteria of a search without a fault. The period ends now, unless it is given; a wallet and a receipt are
 * searched at any time without one.
 */
export function criteriaOf(search: Search, now: Date): ItemCriteria {
  const { from, to, when } = search
  const shared = {
    kind: search.kind as ItemKind | undefined,
    state: stateOf(search),
    channel: search.channel?.toUpperCase(),
    amount: amountOf(search),
    receipt: search.receipt?.replaceAll(/\s/g, ''),
    digits: search.digits,
  }
  const wallet = search.wallet?.toLowerCase()
  const isTimeless = [from, to, when].every((one) => one === undefined)
  const isFew = wallet !== undefined || search.receipt !== undefined
  const period = isTimeless && isFew ? undefined : periodOf(search, now)
  return { ...shared, wallet, period }
}

function periodOf({ from, to, when = 'created' }: Search, now: Date): Period {
  const end = to === undefined ? now : timeFrom(to)!
  const start = from === undefined ? new Date(end.getTime() - defaultMs) : timeFrom(from)!
  return { when: when as Period['when'], from: start, to: end }
}

/** Names of the columns of a list of items, and an item in them. */
export const columnNames: readonly string[] = Object.keys(itemColumns)
export const rowOf = (item: ListedItem): Record<string, string> =>
  Object.fromEntries(Object.entries(itemColumns).map(([name, of]) => [name, of(item)]))
