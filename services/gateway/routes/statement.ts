import type { Static } from 'typebox'
import type { RouteAnswer } from '#shared/api/route'
import { GetStatement } from '#shared/api/statement'
import { csvCell } from '#shared/csv'
import {
  balanceNames,
  IndexerStatement,
  PaymentsStatement,
  PayoutsStatement,
  type StatementBalance,
  type StatementChange,
  type StatementEntry,
  type StatementItem,
  statementDaysMax,
} from '#shared/messages/statement'
import { countries } from '#shared/money/countries'
import type { Context } from '../context'
import { inTime } from '../http/deadline'
import { badRequest, okOf } from '../http/failure'
import { outgoing } from '../http/outgoing'
import { serve } from '../http/serve'
import type { Access } from '../sign-in/access'
import { isTimestamp } from './activity'

const dayMs = 86_400_000

export const statementRoute = ({ ask, clock, users }: Context, access: Access) => {
  const read = async (wallet: `0x${string}`, { from, to }: Period): Promise<Statement> => {
    // The chain comes first: it is final only up to some block, and all parts end there.
    const chain = okOf(await ask(IndexerStatement, { wallet, from, to }))
    const asked = { wallet, from, to: chain.until }
    const [payments, payouts] = await Promise.all([
      ask(PaymentsStatement, asked).then(okOf),
      ask(PayoutsStatement, asked).then(okOf),
    ])
    return statementOf({ wallet, from, to }, { chain, payments, payouts })
  }
  return serve(access, GetStatement, async ({ request, set, wallet }) => {
    const query = new URL(request.url).searchParams
    const isCsv = wantsCsv(query, request.headers.get('accept'))
    const hours = hasDate(query) || isCsv ? await inTime(users.find(wallet).then(utcOffsetOf), 'the users') : 0
    const period = periodOf(query, clock(), hours)
    const statement = await inTime(read(wallet, period), 'the statement')
    set.headers['content-type'] = isCsv ? 'text/csv; charset=utf-8' : 'application/json'
    if (isCsv) set.headers['content-disposition'] = `attachment; filename="${fileOf(period, hours)}"`
    return outgoing(isCsv ? csvOf(statement) : JSON.stringify(statement))
  })
}

type Statement = RouteAnswer<typeof GetStatement>
type Period = { readonly from: string; readonly to: string }
type Part = Static<typeof PaymentsStatement.answer>

const hasDate = (query: URLSearchParams): boolean =>
  ['from', 'to'].some((name) => /^\d{4}-\d{2}-\d{2}$/.test(query.get(name) ?? ''))

/** Returns the offset of the user's country, in hours; 0 before the user has set one of our countries. */
const utcOffsetOf = (user: { readonly country: string | null } | undefined): number =>
  countries.find(({ country }) => country === user?.country)?.utcOffsetHours ?? 0

/** Reads the period. Throws a 400 that names the field. */
function periodOf(query: URLSearchParams, nowMs: number, utcOffsetHours: number): Period {
  const given = (name: string, otherwiseMs: number) => {
    const text = query.get(name)
    const atMs = text === null ? otherwiseMs : timeFrom(text, utcOffsetHours)
    if (atMs === undefined) throw badRequest({ code: 'period_time', field: name })
    return atMs
  }
  const toMs = given('to', nowMs)
  const fromMs = given('from', toMs - 30 * dayMs)
  if (fromMs >= toMs) throw badRequest({ code: 'period_order' })
  if (toMs - fromMs > statementDaysMax * dayMs)
    throw badRequest({ code: 'period_too_long', days: String(statementDaysMax) })
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() }
}

/**
 * Parses a date in a country, or a time with its zone, to unix ms. A blank in the place of a plus is one that was not encoded.
 * Returns undefined for other text, for days that do not exist, and for offsets beyond 14 hours.
 */
export function timeFrom(text: string, utcOffsetHours = 0): number | undefined {
  const [, date, time = 'T00:00:00', ms = '.000', sign, hours = '0', minutes = '0'] =
    /^(\d{4}-\d{2}-\d{2})(?:(T\d{2}:\d{2}:\d{2})(\.\d{3})?(?:Z|([+ -])(0\d|1[0-4]):([0-5]\d)))?$/.exec(text) ?? []
  const whole = `${date}${time}${ms}Z`
  if (!isTimestamp(whole)) return undefined
  const isDate = text === date
  const offsetMs = isDate ? utcOffsetHours * 3_600_000 : (Number(hours) * 60 + Number(minutes)) * 60_000
  const atMs = Date.parse(whole) + (sign === '-' ? offsetMs : -offsetMs)
  return atMs >= 0 ? atMs : undefined
}

function wantsCsv(query: URLSearchParams, accept: string | null): boolean {
  const format = query.get('format')
  if (format !== null && format !== 'json' && format !== 'csv') throw badRequest({ code: 'format_unknown' })
  if (format !== null) return format === 'csv'
  const csv = qualityOf('text/csv', accept ?? '')
  return csv > 0 && csv >= qualityOf('application/json', accept ?? '')
}

/** Returns the quality of a media type in Accept, by its full name only: 0 without it, NaN if malformed. */
function qualityOf(type: string, accept: string): number {
  const parts = accept.toLowerCase().split(',')
  const named = parts.map((part) => part.split(';').map((one) => one.trim()))
  const [, ...parameters] = named.find(([name]) => name === type) ?? [type, 'q=0']
  return Number(parameters.find((one) => one.startsWith('q='))?.slice(2) ?? 1)
}

/** Builds a statement. A payment with an event of the chain in the period is one line, that of the event. */
export function statementOf(
  { wallet, from, to }: Period & { wallet: `0x${string}` },
  { chain, payments, payouts }: { chain: Part & { until: string }; payments: Part; payouts: Part },
): Statement {
  const byRef = new Map(payments.items.flatMap((one) => one.refs.map((ref) => [ref, one] as const)))
  const named = new Set<StatementEntry>()
  const events = chain.items.map((event) => {
    const payment = byRef.get(event.refs[0] ?? '0x')
    if (!payment) return event
    named.add(payment)
    const { id, pair, fiat, fee } = payment
    // The line that takes collateral back names no fee, because none is charged for money that goes back.
    const charged = fee !== undefined && event.kind === 'collateral_added' ? { fee } : {}
    return { ...event, id, pair, fiat, ...charged } as StatementEntry
  })
  const rest = payments.items.filter((one) => !named.has(one) || isMoving(one))
  const items = [...events, ...rest, ...payouts.items].toSorted((left, right) =>
    left.at < right.at ? -1 : Number(left.at > right.at),
  )
  const opening = balance([chain.opening, payments.opening, payouts.opening], [])
  return {
    wallet,
    from,
    to,
    asOf: chain.until,
    opening,
    items: items.map(({ refs: _, ...line }) => line as StatementItem as Statement['items'][number]),
    closing: balance(
      [opening, ...items.map((one) => one.in)],
      items.map((one) => one.out),
    ),
  }
}

const isMoving = ({ in: more, out: less }: StatementEntry) => Object.keys(more).length + Object.keys(less).length > 0

function balance(more: readonly StatementChange[], less: readonly StatementChange[]): StatementBalance {
  const sum = (changes: readonly StatementChange[], name: keyof StatementBalance) =>
    changes.reduce((total, change) => total + BigInt(change[name] ?? 0), 0n)
  const entries = balanceNames.map((name) => [name, String(sum(more, name) - sum(less, name))])
  return Object.fromEntries(entries) as StatementBalance
}

/** Names the file after the days in the user's country, as the period was asked for. The second one is not part of it. */
function fileOf({ from, to }: Period, utcOffsetHours: number): string {
  const dayOf = (at: string) => new Date(Date.parse(at) + utcOffsetHours * 3_600_000).toISOString().slice(0, 10)
  return `statement-${dayOf(from)}-${dayOf(to)}.csv`
}

const fields = ['at', 'kind', 'id', 'ausd', 'pair', 'fiat', 'fee', 'txHash'] as const
const header = [...fields, ...balanceNames.flatMap((name) => [`${name}In`, `${name}Out`])]

/** Formats a statement as CSV (RFC 4180). */
export function csvOf({ from, asOf, opening, items, closing }: Statement): string {
  const rowOf = (line: Partial<Omit<StatementItem, 'kind'>> & { kind: string }) => [
    ...fields.map((name) => line[name] ?? ''),
    ...balanceNames.flatMap((name) => [line.in?.[name] ?? '0', line.out?.[name] ?? '0']),
  ]
  const rows = [
    header,
    rowOf({ at: from, kind: 'opening', in: opening }),
    ...items.map((one) => rowOf(one as StatementItem)),
    rowOf({ at: asOf, kind: 'closing', out: closing }),
  ]
  return rows.map((row) => `${row.map(csvCell).join(',')}\r\n`).join('')
}
