import type { Sql } from 'postgres'
import { openBreaks } from '../books/judge'

export type Exception = {
  readonly kind: 'review' | 'frozen' | 'anomaly' | 'break' | 'lane'
  /** Id that the search finds. */
  readonly id: string
  readonly says: string
  readonly since: Date
}

export type DeadGroup = {
  readonly service: string
  readonly consumer: string
  readonly subject: string
  readonly reason: string
  readonly count: number
  readonly firstAt: Date
  readonly lastAt: Date
  readonly sample: string
}

/** Maximum rows per kind. */
export const namedMax = 100

/** Oldest first. */
export async function readAttention(sql: Sql) {
  const [exceptions, dead] = await Promise.all([
    Promise.all([reviews(sql), frozen(sql), anomalies(sql), breaks(sql), lanes(sql)]),
    Promise.all(withDeadLetters.map((schema) => deadGroups(sql, schema))),
  ])
  const oldestFirst = exceptions
    .flat()
    .toSorted((left, right) => left.since.getTime() - right.since.getTime())
  return { exceptions: oldestFirst, dead: dead.flat(), namedMax }
}

const reviews = (sql: Sql) => sql<Exception[]>`
  select 'review' as kind, id, kind || ', ' || coalesce(reason, 'unknown reason') as says,
    updated_at as since
  from payments.payments where state = 'review' order by updated_at limit ${namedMax}`

const frozen = (sql: Sql) => sql<Exception[]>`
  select 'frozen' as kind, wallet as id, 'wallet frozen' as says, updated_at as since
  from payments.wallets where frozen order by updated_at limit ${namedMax}`

/** Their rows are kept longer, because they prevent duplicates. */
const anomaliesFor = '30 days'

const anomalies = (sql: Sql) => sql<Exception[]>`
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

async function breaks(sql: Sql): Promise<Exception[]> {
  const counting = (await openBreaks(sql)).filter(({ standing }) => standing === 'counts')
  return counting.slice(0, namedMax).map(({ rule, item, about, foundAt }) => ({
    ...{ kind: 'break', id: item, says: `${rule}: ${about}`, since: foundAt },
  }))
}

const lanes = (sql: Sql) => sql<Exception[]>`
  select 'lane' as kind, address as id, 'lane blocked: ' || fault as says,
    updated_at as since
  from chain_relayer.lane where fault is not null order by address limit ${namedMax}`

const withDeadLetters = ['gateway', 'payments', 'payouts', 'chain_relayer'] as const

/** Masks ids and numbers, so that equal errors share a group. */
const deadGroups = (sql: Sql, schema: (typeof withDeadLetters)[number]) => sql<DeadGroup[]>`
  select ${schema.replaceAll('_', '-')} as service, consumer, subject, min(reason) as reason,
    count(*)::int as count, min(died_at) as "firstAt", max(died_at) as "lastAt",
    min(message_id) as sample
  from ${sql(schema)}.dead_letter where redriven_at is null
  group by consumer, subject, regexp_replace(reason, '[0-9a-fA-FxX_-]*[0-9][\\w-]*', '#', 'g')
  order by count(*) desc limit ${namedMax}`
