import { type CommandLine, type CommandResult, reading, textOf } from '#infra/operations/cli/command'
import { recordsCsv } from '#infra/operations/csv'
import { nowOf } from '#infra/operations/predicates'
import { counted } from '#infra/operations/text'
import { channelFault, readBanks } from '#infra/operations/timeline/channels'
import {
  findItems,
  type ItemCriteria,
  type ItemList,
  itemKinds,
  type ListedItem,
} from '#infra/operations/timeline/items'
import {
  columnNames,
  criteriaOf,
  faultInSearch,
  listedMax,
  rowOf,
  type Search,
  searchFields,
  searchFrom,
} from '#infra/operations/timeline/search'
import { currencies } from '#shared/money/money'

type Options = CommandLine['options']

function searchOf(options: Options): Search {
  const { ended, affected } = options
  const typed = Object.fromEntries(searchFields.map((field) => [field, textOf(options[field])]))
  return searchFrom({ ...typed, when: affected ? 'affected' : ended ? 'ended' : undefined })
}

export const find = reading({
  does: 'find payments, cash-outs and sends by amount, time, state, channel, wallet, bank receipt or bank account, newest first',
  usage: `find [--amount <amount> --currency <${currencies.join(' | ')}>] [--from <time>] [--to <time>] [--ended | --affected]
         [--kind <${itemKinds.join(' | ')}>] [--state <state>] [--channel <channel>] [--wallet <wallet>]
         [--receipt <number on the payer's receipt>] [--digits <last digits of a bank account>] [--users | --csv | --json]`,
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
    receipt: { type: 'string' },
    digits: { type: 'string' },
    users: { type: 'boolean' },
    csv: { type: 'boolean' },
  },
  faultIn: (_, options) => faultOf(options),
  read: async ({ options }, { sql, ask }): Promise<CommandResult> => {
    const criteria = criteriaOf(searchOf(options), await nowOf(sql))
    const sources = { sql, ask: async () => ask }
    const list = await findItems(sources, criteria, listedMax)
    const { items, lacks } = list
    const wrong =
      items.length === 0 && lacks.length === 0 ? await channelFault(sql, criteria, () => readBanks(sources)) : undefined
    if (wrong !== undefined) return { text: wrong, data: { wrong }, ok: false }
    const text = options.csv ? itemsCsv(items) : options.users ? usersText(list) : itemsText(list, criteria)
    const users = [...usersOf(items).keys()]
    const isComplete = lacks.length === 0
    const data = { period: criteria.period, isComplete, lacks, items: items.map(rowOf), users }
    return { text, data, ok: isComplete, lacks }
  },
})

function faultOf(options: Options): string | undefined {
  if (options.ended && options.affected) return 'choose one of --ended and --affected'
  if (options.users && options.csv) return 'choose one of --users and --csv'
  return faultInSearch(searchOf(options), (field) => `--${field}`, new Date())
}

const itemsCsv = (items: readonly ListedItem[]): string => recordsCsv(columnNames, items.map(rowOf))

const usersOf = (items: readonly ListedItem[]) => Map.groupBy(items, ({ wallet }) => wallet)

function usersText(list: ItemList): string {
  const lines = [...usersOf(list.items)].map(([wallet, own]) => `${wallet}  ${counted(own.length, 'item')}`)
  return [...lines, ...list.lacks].join('\n') || 'no users'
}

const phrases = { created: 'created', ended: 'ended', affected: 'in progress' } as const

function itemsText(list: ItemList, { period }: ItemCriteria): string {
  const { items, lacks } = list
  const head = `${counted(items.length, 'item')} of ${counted(usersOf(items).size, 'user')}`
  const time = period ? `, ${phrases[period.when]} ${period.from.toISOString()} to ${period.to.toISOString()}` : ''
  return [`${head}${time}`, ...items.map(lineOf), ...lacks].join('\n')
}

function lineOf(item: ListedItem): string {
  const { created, kind, item: id, state, reason, currency, fiat, ausd, channel, wallet } = rowOf(item)
  const money = [currency ? `${fiat} ${currency}` : '', `${ausd} AUSD`].filter(Boolean).join(', ')
  return `  ${created}  ${kind}  ${id}  ${state}${reason ? ` (${reason})` : ''}  ${money}  ${channel || '-'}  ${wallet}`
}
