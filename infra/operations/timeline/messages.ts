import type { Sql } from 'postgres'
import { type Messenger, messengers, serviceOf } from '#infra/migrations/databases'
import { nowOf } from '#infra/operations/predicates'
import { counted, sentence } from '#infra/operations/text'
import type { Roots, TimelineEntry, TimelinePart } from '#infra/operations/timeline/entry'
import { findOperations } from '#infra/operations/timeline/operations'
import { endOfTurn } from '#platform/bus/queue'
import { messageIdFor } from '#shared/ids'
import { topics } from '#shared/messages/catalogue'
import { type RelayKind, relayFailed, relaySettled } from '#shared/messages/relay'
import type { Topic } from '#shared/messages/topic'

/** Number of repeats of a message that are shown. Later ones show only in their operation. */
const repeatsMax = 40

const returningStates = ['taking', 'taken', 'paying', 'returning', 'failed'] as const
const said = topics.filter(({ stream }) => stream !== 'WEBHOOKS')

/** Reads the messages of items. Their ids are computed from causes, because an outbox has no index on payloads. */
export async function readMessages(sql: Sql, roots: Roots): Promise<TimelinePart> {
  if (roots.payments.length + roots.cashouts.length + roots.operations.length === 0) return {}
  const operations = await findOperations(sql, roots)
  const causes = new Set([...roots.payments, ...roots.cashouts, ...operations.map(({ cause }) => cause)])
  const ids: string[] = []
  for (const cause of causes) {
    ids.push(...said.flatMap((topic) => idsOf(topic, cause)))
    await endOfTurn() // Thousands of digests are computed, so the loop yields to other requests of this process.
  }
  const messages = (await Promise.all(messengers.map((schema) => sentBy(sql, schema, ids)))).flat()
  const handled = await handledAmong(
    sql,
    messages.map(({ id }) => id),
  )
  const now = await nowOf(sql)
  return {
    entries: [
      ...messages.map((message) => entryOf(message, handled.get(message.id) ?? [], now)),
      ...(await deadAmong(
        sql,
        messages.map(({ id }) => id),
      )),
    ],
  }
}

/** Returns the ids of the first message, and of repeats by number, or by state and check. */
function idsOf(topic: Topic, cause: string): string[] {
  const numbers = Array.from({ length: repeatsMax }, (_, number) => number)
  const ofChecks =
    topic.stream === 'COMMANDS' ? returningStates.flatMap((state) => numbers.map((number) => `${state}:${number}`)) : []
  return [...numbers, ...ofChecks].map((repeat) => messageIdFor(topic, cause, repeat))
}

type Message = {
  id: string
  subject: string
  sender: string
  requestId: string | null
  createdAt: Date
  publishedAt: Date | null
}

const sentBy = (sql: Sql, schema: Messenger, ids: readonly string[]) =>
  sql<Message[]>`
    select id, subject, ${serviceOf(schema)} as sender, request_id as "requestId",
      created_at as "createdAt", published_at as "publishedAt"
    from ${sql(schema)}.outbox where id = any(${[...ids]})`

type Handled = { consumer: string; attempts: number; lastError: string | null; doneAt: Date | null }

/** Returns which messages were handled. Deliveries are messages too. */
export async function handledAmong(sql: Sql, ids: readonly string[]) {
  const rows = await Promise.all(
    messengers.map(
      (schema) => sql<(Handled & { id: string })[]>`
        select message_id as id, consumer, attempts, last_error as "lastError", done_at as "doneAt"
        from ${sql(schema)}.inbox
        where consumer = ${serviceOf(schema)} and message_id = any(${[...ids]})`,
    ),
  )
  return Map.groupBy(rows.flat(), ({ id }) => id)
}

export const handlingIn = (handled: readonly Handled[]): string | false =>
  handled.length > 0 &&
  handled
    .map(({ consumer, attempts, lastError, doneAt }) =>
      sentence(
        doneAt ? `handled by ${consumer} ${doneAt.toISOString()}` : `not yet handled by ${consumer}`,
        attempts > 0 && `failed ${counted(attempts, 'time')}: ${lastError}`,
      ),
    )
    .join('; ')

const entryOf = (message: Message, handled: readonly Handled[], now: Date): TimelineEntry => ({
  at: message.createdAt,
  where: 'bus',
  what: 'message',
  id: message.id,
  says: sentence(
    `${message.sender} sent ${message.subject}`,
    handlingIn(handled) || (isAwaited(message, handled) && 'not handled yet'),
    message.requestId && `request ${message.requestId}`,
  ),
  isOdd:
    handled.some(({ attempts }) => attempts > 0) ||
    (isAwaited(message, handled) && message.createdAt.getTime() < now.getTime() - usualMs),
})

/** Usual delay in ms. A message is marked as published some seconds late, and most are handled before that. */
const usualMs = 60_000

/** Kinds that are ordered by a request instead of a message. The caller reads their operation. */
const unordered: readonly RelayKind[] = ['send', 'giveback']
const unread = new Set(unordered.flatMap((kind) => [relaySettled(kind).subject, relayFailed(kind).subject]))

/** Subjects that one of our services consumes: orders and their outcomes. */
export const readSubjects: ReadonlySet<string> = new Set(
  said
    .filter(({ stream, publishers }) => stream === 'COMMANDS' || publishers.includes('chain-relayer'))
    .map(({ subject }) => subject)
    .filter((subject) => !unread.has(subject)),
)

const isAwaited = ({ subject, publishedAt }: Message, handled: readonly Handled[]): boolean =>
  handled.length === 0 && (readSubjects.has(subject) || publishedAt === null)

export async function deadAmong(sql: Sql, ids: readonly string[]): Promise<TimelineEntry[]> {
  const rows = await Promise.all(
    messengers.map(
      (schema) => sql<{ id: string; consumer: string; reason: string; diedAt: Date; redrivenAt: Date | null }[]>`
        select message_id as id, consumer, reason, died_at as "diedAt", redriven_at as "redrivenAt"
        from ${sql(schema)}.dead_letter
        where consumer = ${serviceOf(schema)} and message_id = any(${[...ids]})`,
    ),
  )
  return rows.flat().map(({ id, consumer, reason, diedAt, redrivenAt }) => ({
    at: diedAt,
    where: 'bus',
    what: 'dead letter',
    id,
    isOdd: redrivenAt === null,
    says: sentence(`dead-lettered by ${consumer}: ${reason}`, redrivenAt && `closed ${redrivenAt.toISOString()}`),
  }))
}
