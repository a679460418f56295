import type { Sql } from 'postgres'

/** Something that waits for a person, whichever service it is in. */
export type Exception = {
  readonly kind: 'review' | 'frozen' | 'anomaly' | 'break' | 'lane'
  /** What a search finds. */
  readonly id: string
  readonly says: string
  readonly since: Date
}

/** Messages that a service gave up on for one reason. */
export type DeadGroup = {
  readonly service: string
  readonly consumer: string
  readonly subject: string
  readonly reason: string
  readonly count: number
  readonly firstAt: Date
  readonly lastAt: Date
  /** One of them. */
  readonly sample: string
}

/** So many of each kind are named, the oldest; beyond, the page says that there are more. */
export const namedMax = 100

/** Everything that waits for a person, oldest first. Reads only. */
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
  select 'review' as kind, id, kind || ', ' || coalesce(reason, 'for a reason unknown') as says,
    updated_at as since
  from payments.payments where state = 'review' order by updated_at limit ${namedMax}`

const frozen = (sql: Sql) => sql<Exception[]>`
  select 'frozen' as kind, wallet as id,
    case when clear_requested_at is null then 'the wallet is frozen'
      else 'the wallet is frozen; its end is asked for' end as says, updated_at as since
  from payments.wallets where frozen order by updated_at limit ${namedMax}`

/** They stay for ever, since they guard: here they are named for so long. */
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

const breaks = (sql: Sql) => sql<Exception[]>`
  select 'break' as kind, item as id, rule || ': ' || about as says, found_at as since
  from books.breaks where closed_at is null and (rests_until is null or rests_until < now())
  order by found_at limit ${namedMax}`

const lanes = (sql: Sql) => sql<Exception[]>`
  select 'lane' as kind, address as id, 'gives out no nonces: ' || fault as says,
    updated_at as since
  from chain_relayer.lane where fault is not null order by address limit ${namedMax}`

const withDeadLetters = ['gateway', 'payments', 'payouts', 'chain_relayer'] as const

/** By reason without the ids and numbers in it, which would make each its own group. */
const deadGroups = (sql: Sql, schema: (typeof withDeadLetters)[number]) => sql<DeadGroup[]>`
  select ${schema.replaceAll('_', '-')} as service, consumer, subject, min(reason) as reason,
    count(*)::int as count, min(died_at) as "firstAt", max(died_at) as "lastAt",
    min(message_id) as sample
  from ${sql(schema)}.dead_letter where redriven_at is null
  group by consumer, subject, regexp_replace(reason, '[0-9a-fA-FxX_-]*[0-9][\\w-]*', '#', 'g')
  order by count(*) desc limit ${namedMax}`
