import type { Sql } from 'postgres'
import { openBreaks } from '../books/judge'
import { groupsOf, listDeadLetters } from '../cli/dead-letters/letters'
import { failedFlagText, listFailedFlags } from '../cli/person/decide'
import { remedyFor, shellWord } from '../cli/remedy'
import { frozenText, listFrozen } from '../cli/wallets'

/** The console's page has a filter for each. */
export const exceptionKinds = ['review', 'frozen', 'identity', 'anomaly', 'break', 'lane'] as const

export type Exception = {
  readonly kind: (typeof exceptionKinds)[number]
  /** Id that the search finds. */
  readonly id: string
  readonly says: string
  readonly since: Date
  /** Operators' command that shows or ends it; the console itself changes nothing. */
  readonly command: string
}

type Found = Omit<Exception, 'command'> & Partial<Pick<Exception, 'command'>>

/** Commands by kind, for an id as one word of a shell. A break has the command of its rule. */
const commands: Readonly<Record<Exclude<Exception['kind'], 'break'>, (word: string) => string>> = {
  review: (word) => `review show ${word}`,
  frozen: (word) => `trace ${word}`,
  identity: (word) => `persons order ${word} --reason <why>`,
  anomaly: (word) => `trace ${word}`,
  lane: () => 'status',
}

const withCommand = (one: Found): Exception => ({
  ...one,
  command: one.kind === 'break' ? one.command! : `bun run ops ${commands[one.kind](shellWord(one.id))}`,
})

export const namedMax = 100

/** Reads what needs an operator, oldest first. */
export async function readAttention(sql: Sql) {
  const [exceptions, letters] = await Promise.all([
    Promise.all([reviews(sql), frozen(sql), flags(sql), anomalies(sql), breaks(sql), lanes(sql)]),
    listDeadLetters(sql),
  ])
  const oldestFirst = exceptions.flat().toSorted((left, right) => left.since.getTime() - right.since.getTime())
  return { exceptions: oldestFirst.map(withCommand), dead: groupsOf(letters).slice(0, namedMax), namedMax }
}

const reviews = (sql: Sql) => sql<Found[]>`
  select 'review' as kind, id, kind || ', ' || coalesce(reason, 'unknown reason') as says,
    updated_at as since
  from payments.payments where state = 'review' order by updated_at limit ${namedMax}`

const frozen = async (sql: Sql): Promise<Found[]> =>
  (await listFrozen(sql)).slice(0, namedMax).map((one) => ({
    kind: 'frozen',
    id: one.wallet,
    says: frozenText(one),
    since: one.since,
  }))

const flags = async (sql: Sql): Promise<Found[]> =>
  (await listFailedFlags(sql)).slice(0, namedMax).map((one) => ({
    kind: 'identity',
    id: one.wallet,
    says: failedFlagText(one),
    since: one.since,
  }))

/** Age up to which an anomaly is listed. Its row is kept longer, because it prevents duplicates. */
const anomaliesFor = '30 days'

const anomalies = (sql: Sql) => sql<Found[]>`
  select * from (
    select 'anomaly' as kind, coalesce(payment_id, object) as id,
      concat_ws(', ', kind, account || ' ' || object) as says, noticed_at as since
    from payments.anomalies
    union all
    select 'anomaly', coalesce(payout_id, object), kind || ': ' || says, noticed_at
    from payouts.anomalies
    union all
    select 'anomaly', delivery_id, kind || ': ' || detail, noticed_at
    from gateway.identity_anomalies
  ) found where since > now() - ${anomaliesFor}::interval order by since desc limit ${namedMax}`

async function breaks(sql: Sql): Promise<Found[]> {
  const counting = (await openBreaks(sql)).filter(({ standing }) => standing === 'counts')
  return counting.slice(0, namedMax).map((one) => ({
    kind: 'break',
    id: one.item,
    says: `${one.rule}: ${one.about}`,
    since: one.foundAt,
    command: remedyFor(one),
  }))
}

const lanes = (sql: Sql) => sql<Found[]>`
  select 'lane' as kind, address as id, 'lane blocked: ' || fault as says,
    updated_at as since
  from chain_relayer.lane where fault is not null order by address limit ${namedMax}`
