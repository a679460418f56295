import { csvText } from '#infra/operations/csv'
import { amountText } from '#shared/money/text'
import type { Agreed, Break } from './judge'

export function ageText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} d`
}

export const breakText = ({ rule, item, asset, amount, about }: Break): string =>
  `${rule} ${item} ${amount} ${asset}: ${about}`

export function breakLine(one: Break): string {
  const { id, rule, item, asset, amount, ageMs, standing } = one
  const sum = asset === '-' ? '' : `, ${amountText(amount, asset)} ${asset}`
  const rest = one.restsUntil ? `, muted until ${one.restsUntil.toISOString()}` : ''
  const words = { young: ', within its grace period', rests: rest, counts: one.restsUntil ? ', no longer muted' : '' }
  return `#${id} ${rule}: ${item}${sum}, open for ${ageText(ageMs)}${words[standing]}`
}

/** Columns of the CSV file. Their order is fixed; new columns go last. */
const columns = [
  'status',
  'rule',
  'item',
  'asset',
  'amount',
  'found_at',
  'age_seconds',
  'owner',
  'reason',
  'rests_until',
  'break',
  'about',
] as const

/** Returns breaks, then agreeing items, as CSV. Amounts are in minor units, times in UTC. */
export function csvOf(breaks: readonly Break[], agreed: readonly Agreed[]): string {
  const rows = [
    ...breaks.map((one) => [
      one.standing,
      one.rule,
      one.item,
      one.asset,
      String(one.amount),
      one.foundAt.toISOString(),
      String(Math.floor(one.ageMs / 1_000)),
      one.owner ?? '',
      one.reason ?? '',
      one.restsUntil?.toISOString() ?? '',
      one.id,
      one.about,
    ]),
    ...agreed.map(({ item, asset, amount }) => [
      'agrees',
      '',
      item,
      asset,
      String(amount),
      ...columns.slice(5).map(() => ''),
    ]),
  ]
  return csvText(columns, rows)
}
