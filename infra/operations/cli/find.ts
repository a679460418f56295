import { type CommandLine, type CommandResult, reading } from '#infra/operations/cli/command'
import { recordsCsv } from '#infra/operations/csv'
import { nowOf } from '#infra/operations/predicates'
import { counted } from '#infra/operations/text'
import { isWallet } from '#infra/operations/timeline/find'
import {
  findItems,
  type ItemCriteria,
  type ItemKind,
  type ItemList,
  itemColumns,
  itemKinds,
  type ListedItem,
  type Period,
} from '#infra/operations/timeline/items'
import { homePair, namedDayStartMs } from '#shared/money/day'
import { type Currency, currencies } from '#shared/money/money'
import { fromPlainAmount } from '#shared/money/text'

/** Most items of each table that are listed. */
const listedMax = 200
/** Length of a period whose start is not given, in ms. */
const defaultMs = 7 * 86_400_000

type Options = CommandLine['options']
const textOf = (option: Options[string]) => (option === undefined ? undefined : String(option))

export const find = reading({
  does: 'find payments, cash-outs and sends by amount, time, state, channel or wallet, newest first',
  usage: `find [--amount <amount> --currency <${currencies.join(' | ')}>] [--from <time>] [--to <time>] [--ended | --affected]
         [--kind <${itemKinds.join(' | ')}>] [--state <state>] [--channel <channel>] [--wallet <wallet>] [--users | --csv | --json]`,
  options: {
    amount: { type: 'string' },
    currency: { type: 'string' },
    from: { type: 'string' },
    to: { type: 'string' },
    ended: { type: 'boolean' },
    affected: { type: 'boolean' },
    kind: { type: 'string' },
    state: { type: 'string' },
    channel: { type: 'string' },
    wallet: { type: 'string' },
    users: { type: 'boolean' },
    csv: { type: 'boolean' },
  },
  faultIn: (_, options) => faultOf(options),
  read: async ({ options }, { sql }): Promise<CommandResult> => {
    const criteria = criteriaOf(options, await nowOf(sql))
    const list = await findItems(sql, criteria, listedMax)
    const { items, isComplete } = list
    const text = options.csv ? itemsCsv(items) : options.users ? usersText(list) : itemsText(list, criteria)
    const data = { period: criteria.period, isComplete, items: items.map(rowOf), users: [...usersOf(items).keys()] }
    return { text, data, ok: isComplete }
  },
})

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

const amountOf = ({ amount, currency }: Options): ItemCriteria['amount'] => {
  if (amount === undefined) return undefined
  const minor = fromPlainAmount(String(amount), String(currency))
  return minor === undefined ? undefined : { minor, currency: currency as Currency }
}

function faultOf(options: Options): string | undefined {
  const { amount, currency, from, to, ended, affected, kind, wallet } = options
  for (const time of [from, to])
    if (time !== undefined && !timeFrom(String(time)))
      return `${time} is not a time, such as 2026-11-24, 2026-11-24T02:00Z or 2026-11-24T09:00+07:00`
  if (currency !== undefined && !currencies.some((one) => one === currency))
    return `unknown currency ${currency}; choose one of ${currencies.join(', ')}`
  if ((amount === undefined) !== (currency === undefined)) return '--amount and --currency belong together'
  if (amount !== undefined && !amountOf(options))
    return `--amount ${amount} is not an amount in ${currency}, such as 50000`
  if (kind !== undefined && !itemKinds.some((one) => one === kind))
    return `unknown kind ${kind}; choose one of ${itemKinds.join(', ')}`
  if (wallet !== undefined && !isWallet(String(wallet))) return 'expected a wallet: 0x and 40 hex digits'
  if (kind === 'send' && wallet === undefined) return 'sends are found with --wallet only'
  if (from !== undefined && to !== undefined && timeFrom(String(from))! >= timeFrom(String(to))!)
    return '--from must be before --to'
  if (ended && affected) return 'choose one of --ended and --affected'
  return undefined
}

function criteriaOf(options: Options, now: Date): ItemCriteria {
  const shared = {
    kind: textOf(options.kind) as ItemKind | undefined,
    state: textOf(options.state),
    channel: textOf(options.channel),
    amount: amountOf(options),
  }
  const wallet = textOf(options.wallet)?.toLowerCase()
  const isTimeless = [options.from, options.to, options.ended, options.affected].every((one) => one === undefined)
  if (wallet !== undefined) return { ...shared, wallet, period: isTimeless ? undefined : periodOf(options, now) }
  return { ...shared, period: periodOf(options, now) }
}

function periodOf({ from, to, ended, affected }: Options, now: Date): Period {
  const end = to === undefined ? now : timeFrom(String(to))!
  const start = from === undefined ? new Date(end.getTime() - defaultMs) : timeFrom(String(from))!
  return { when: affected ? 'affected' : ended ? 'ended' : 'created', from: start, to: end }
}

const names = Object.keys(itemColumns)
const rowOf = (item: ListedItem) =>
  Object.fromEntries(Object.entries(itemColumns).map(([name, of]) => [name, of(item)]))

const itemsCsv = (items: readonly ListedItem[]): string => recordsCsv(names, items.map(rowOf))

const usersOf = (items: readonly ListedItem[]) => Map.groupBy(items, ({ wallet }) => wallet)

/** Last line of a list that is cut. A CSV file has none, but the command exits with 1. */
const moreOf = ({ isComplete }: ItemList): string[] => (isComplete ? [] : ['there are more: narrow the search'])

function usersText(list: ItemList): string {
  const lines = [...usersOf(list.items)].map(([wallet, own]) => `${wallet}  ${counted(own.length, 'item')}`)
  return [...lines, ...moreOf(list)].join('\n') || 'no users'
}

const phrases = { created: 'created', ended: 'ended', affected: 'in progress' } as const

function itemsText(list: ItemList, { period }: ItemCriteria): string {
  const { items } = list
  const head = `${counted(items.length, 'item')} of ${counted(usersOf(items).size, 'user')}`
  const time = period ? `, ${phrases[period.when]} ${period.from.toISOString()} to ${period.to.toISOString()}` : ''
  return [`${head}${time}`, ...items.map(lineOf), ...moreOf(list)].join('\n')
}

function lineOf(item: ListedItem): string {
  const { created, kind, item: id, state, reason, currency, fiat, ausd, channel, wallet } = rowOf(item)
  const money = [currency ? `${fiat} ${currency}` : '', `${ausd} AUSD`].filter(Boolean).join(', ')
  return `  ${created}  ${kind}  ${id}  ${state}${reason ? ` (${reason})` : ''}  ${money}  ${channel || '-'}  ${wallet}`
}
