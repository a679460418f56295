import type { Fragment, Sql } from 'postgres'
import { operationMicro, predicate } from '#infra/operations/predicates'
import { counted } from '#infra/operations/text'
import type { TracedItem } from '#infra/operations/timeline/entry'
import type { Ask } from '#platform/bus/ask'
import { AccountEnding, cashoutsAskedMax } from '#shared/messages/payouts'
import type { Currency, Fiat } from '#shared/money/money'
import { plainAmount } from '#shared/money/text'
import { isOpen as isOpenOperation, operations } from '../../../services/chain-relayer/operations/operation.table'
import { isOpen as isOpenPayment, payments } from '../../../services/payments/payment.table'
import { cashouts, isOpen as isOpenCashout } from '../../../services/payouts/cashout.table'

export const itemKinds = ['topup', 'settlement', 'cashout', 'send'] as const
export type ItemKind = (typeof itemKinds)[number]

/** A payment, a cash-out or a send in a list. `trace` shows the rest of it by its id. */
export type ListedItem = Pick<TracedItem, 'id' | 'wallet' | 'state' | 'reason'> & {
  readonly kind: ItemKind
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly currency: Fiat | null
  /** Amounts in the smallest unit, as text. */
  readonly fiat: string | null
  readonly ausd: string
  readonly channel: string | null
}

/** Columns of a list of items, whose order is fixed; new columns go last. Amounts are exact decimals in major units. */
export const itemColumns: Readonly<Record<string, (item: ListedItem) => string>> = {
  created: ({ createdAt }) => createdAt.toISOString(),
  updated: ({ updatedAt }) => updatedAt.toISOString(),
  kind: ({ kind }) => kind,
  item: ({ id }) => id,
  state: ({ state }) => state,
  reason: ({ reason }) => reason ?? '',
  currency: ({ currency }) => currency ?? '',
  fiat: ({ fiat, currency }) => (fiat !== null && currency !== null ? plainAmount(BigInt(fiat), currency) : ''),
  ausd: ({ ausd }) => plainAmount(BigInt(ausd), 'AUSD'),
  channel: ({ channel }) => channel ?? '',
  wallet: ({ wallet }) => wallet,
}

export const whens = ['created', 'ended', 'affected'] as const

/**
 * Period of a list. `created`: items that began in it. `ended`: items that are over and changed last in it. `affected`:
 * items in progress within it, including those that changed since it began.
 */
export type Period = { readonly when: (typeof whens)[number]; readonly from: Date; readonly to: Date }

/** Limits of a list of items. It has a period unless it is of one wallet or receipt, because the tables grow. */
export type ItemCriteria = {
  readonly kind?: ItemKind | undefined
  readonly state?: string | undefined
  readonly channel?: string | undefined
  /** Amount in AUSD, or in local money as it was asked for or paid. */
  readonly amount?: { readonly minor: bigint; readonly currency: Currency } | undefined
  /** Reference of a payment on the payer's own receipt, without regard to case, spaces and leading zeros. */
  readonly receipt?: string | undefined
  /** Last digits of the bank account of a cash-out. */
  readonly digits?: string | undefined
  readonly wallet?: string | undefined
  readonly period?: Period | undefined
}

/** A list of items, newest first, and why it may not have all of them. */
export type ItemList = { readonly items: readonly ListedItem[]; readonly lacks: readonly string[] }

/** Most cash-outs whose account numbers payouts opens for one search. */
const openedMax = 10_000

/** Wait for an answer about bank accounts, in ms, so that the console can still show what is missing. */
export const answerMs = 3_000

/** Where a search looks. Only payouts can read the number of a bank account, so a search for its digits asks it. */
export type ItemSources = { readonly sql: Sql; readonly ask?: () => Promise<Ask> }

/** Finds payments and cash-outs, and sends of a wallet, newest first and at most `max` of each. */
export async function findItems({ sql, ask }: ItemSources, criteria: ItemCriteria, max: number): Promise<ItemList> {
  const { kind, wallet, receipt, digits } = criteria
  const isAsked = (...kinds: ItemKind[]) => kind === undefined || kinds.includes(kind)
  const isOfPayments = digits === undefined && isAsked('topup', 'settlement')
  const isOfCashouts = receipt === undefined && isAsked('cashout')
  const isOfSends = receipt === undefined && digits === undefined && isAsked('send') && wallet !== undefined
  const [payments, cashouts, sends] = await Promise.all([
    isOfPayments ? findPayments(sql, criteria, max + 1) : [],
    isOfCashouts ? findEnding({ sql, ask }, criteria, max + 1) : none,
    isOfSends ? findSends(sql, criteria, max + 1) : [],
  ])
  const found = [payments, cashouts.found, sends]
  const items = found.flatMap((own) => own.slice(0, max))
  const isCut = cashouts.isCut || found.some((own) => own.length > max)
  return {
    items: items.toSorted((left, right) => right.createdAt.getTime() - left.createdAt.getTime()),
    lacks: [...(isCut ? ['there are more: narrow the search'] : []), ...cashouts.lacks],
  }
}

const none = { found: [], isCut: false, lacks: [] as readonly string[] }

/** Finds cash-outs, and keeps those whose bank account ends with the digits, if there are any. */
async function findEnding({ sql, ask }: ItemSources, criteria: ItemCriteria, max: number) {
  const { digits } = criteria
  if (digits === undefined) return { ...none, found: await findCashouts(sql, criteria, max) }
  const all = await findCashouts(sql, criteria, openedMax)
  if (all.length === 0) return none
  const { ending, lacks } = await askForEnding(
    ask!,
    digits,
    all.map(({ id }) => id),
  )
  return { found: all.filter(({ id }) => ending.has(id)).slice(0, max), isCut: all.length === openedMax, lacks }
}

async function askForEnding(ask: () => Promise<Ask>, digits: string, ids: readonly string[]) {
  const ending = new Set<string>()
  const lacks: string[] = []
  let unreadable = 0
  try {
    const asked = await ask()
    for (let at = 0; at < ids.length; at += cashoutsAskedMax) {
      const payoutIds = ids.slice(at, at + cashoutsAskedMax)
      const answer = await asked(AccountEnding, { digits, payoutIds }, answerMs)
      if ('refused' in answer) throw new Error(`payouts refused the question: ${answer.refused}`)
      for (const id of answer.ok.payoutIds) ending.add(id)
      unreadable += answer.ok.unreadable ?? 0
    }
  } catch (error) {
    lacks.push(`cash-outs were not judged, and only payouts can read bank accounts: ${(error as Error).message}`)
  }
  if (unreadable > 0)
    lacks.push(`${counted(unreadable, 'cash-out')} could not be judged: BANK_DETAILS_KEYS of payouts lacks their key`)
  return { ending, lacks }
}

const findPayments = (sql: Sql, criteria: ItemCriteria, max: number) => sql<ListedItem[]>`
  select kind, id, wallet, state, reason, created_at as "createdAt", updated_at as "updatedAt", currency,
    fiat_minor::text as fiat, ausd_micro::text as ausd, channel
  from payments.payments where ${meets(sql, criteria, paymentColumns(sql))} and ${criteria.kind === undefined ? sql`true` : sql`kind = ${criteria.kind}`}
    and ${criteria.receipt === undefined ? sql`true` : hasReceipt(sql, criteria.receipt)}
  order by created_at desc limit ${max}`

/**
 * A payment has the receipt of its charge, and those of further charges that paid it. Spaces, case and leading zeros do not
 * count, because apps print receipts in groups, and spreadsheets take the zeros of numbers away.
 */
const hasReceipt = (sql: Sql, receipt: string): Fragment => {
  const isIt = (column: Fragment) => sql`${comparable(sql, column)} = ${comparable(sql, sql`${receipt}::text`)}`
  return sql`(${isIt(sql`bank_receipt`)} or id in (
    select payment_id from payments.anomalies where ${isIt(sql`bank_receipt`)}))`
}

const comparable = (sql: Sql, receipt: Fragment): Fragment => sql`ltrim(upper(replace(${receipt}, ' ', '')), '0')`

const findCashouts = (sql: Sql, criteria: ItemCriteria, max: number) => sql<ListedItem[]>`
  select 'cashout' as kind, id, wallet, state, reason, created_at as "createdAt", updated_at as "updatedAt",
    'IDR' as currency, fiat_minor::text as fiat, ausd_micro::text as ausd, channel_code as channel
  from payouts.payouts where ${meets(sql, criteria, cashoutColumns(sql))} order by created_at desc limit ${max}`

/** Finds the channels of the payments and cash-outs of a wallet or a period. */
export async function findChannels(sql: Sql, { wallet, period }: ItemCriteria): Promise<string[]> {
  const scope: ItemCriteria = { wallet, period }
  const found = await sql<{ channel: string }[]>`
    select distinct channel from payments.payments where channel is not null and ${meets(sql, scope, paymentColumns(sql))}
    union select channel_code from payouts.payouts where ${meets(sql, scope, cashoutColumns(sql))}`
  return found.map(({ channel }) => channel)
}

const findSends = (sql: Sql, criteria: ItemCriteria, max: number) => sql<ListedItem[]>`
  select 'send' as kind, cause as id, wallet, state, reason, created_at as "createdAt", updated_at as "updatedAt",
    null as currency, null as fiat, ${operationMicro(sql)} as ausd, null as channel
  from chain_relayer.operation where kind = 'send' and ${meets(sql, criteria, {
    channel: sql`null`,
    currency: sql`null`,
    fiat: sql`null`,
    ausd: sql`(${operationMicro(sql)})::numeric`,
    open: predicate(sql, isOpenOperation(operations)),
    changed: sql`updated_at`,
  })} order by created_at desc limit ${max}`

type Columns = Readonly<Record<'channel' | 'currency' | 'fiat' | 'ausd' | 'open' | 'changed', Fragment>>

const paymentColumns = (sql: Sql): Columns => ({
  channel: sql`channel`,
  currency: sql`currency`,
  fiat: sql`fiat_minor, paid_minor`,
  ausd: sql`ausd_micro`,
  open: predicate(sql, isOpenPayment(payments)),
  changed: sql`changed_at`,
})

const cashoutColumns = (sql: Sql): Columns => ({
  channel: sql`channel_code`,
  currency: sql`'IDR'`,
  fiat: sql`fiat_minor`,
  ausd: sql`ausd_micro`,
  open: predicate(sql, isOpenCashout(cashouts)),
  changed: sql`changed_at`,
})

/** Returns the condition of the criteria on a table. `open` is its predicate of items in progress. */
function meets(sql: Sql, { wallet, state, channel, amount, period }: ItemCriteria, of: Columns): Fragment {
  const parts = [
    wallet !== undefined && sql`wallet = ${wallet}`,
    state !== undefined && sql`state = ${state}`,
    channel !== undefined && sql`${of.channel} = ${channel}`,
    amount?.currency === 'AUSD' && sql`${of.ausd} = ${String(amount.minor)}::numeric`,
    amount !== undefined &&
      amount.currency !== 'AUSD' &&
      sql`${of.currency} = ${amount.currency} and ${String(amount.minor)}::numeric in (${of.fiat})`,
    period !== undefined && isWithin(sql, period, of),
  ].filter((part) => part !== false)
  return parts.reduce((all, part) => sql`${all} and ${part}`, sql`true`)
}

/** Returns the condition of a period. A row has changed when it was created or later, and that time has an index. */
function isWithin(sql: Sql, { when, from, to }: Period, { open, changed }: Columns): Fragment {
  switch (when) {
    case 'created':
      return sql`created_at >= ${from} and created_at < ${to} and ${changed} >= ${from}`
    case 'ended':
      // The predicate is null, not false, for a payment without a reason.
      return sql`${open} is not true and updated_at >= ${from} and updated_at < ${to} and ${changed} >= ${from}`
    case 'affected':
      return sql`created_at < ${to} and (${open} or updated_at >= ${from} and ${changed} >= ${from})`
  }
}
