import type { Sql } from 'postgres'
import { endOfTurn } from '#shared/bus/turn'
import { messageIdFor } from '#shared/ids'
import { topics } from '#shared/messages/catalogue'
import { type RelayKind, relayFailed, relaySettled } from '#shared/messages/relay'
import type { Topic } from '#shared/messages/topic'
import { findOperations } from '#shared/trace/chain'
import type { Entry, Part, Roots } from '#shared/trace/entry'
import { counted, sentence } from '#shared/trace/words'

/** So many repeats of a message are looked for; more than these are seen by their operation alone. */
const repeatsMax = 40

const senders = ['gateway', 'payments', 'payouts', 'chain_relayer'] as const
const returningStates = ['taking', 'taken', 'paying', 'returning', 'failed'] as const
const said = topics.filter(({ stream }) => stream !== 'WEBHOOKS')

/**
 * Messages about these items with what became of each. Their ids come from causes, so they are worked
 * out and looked up: an outbox has no index on what a message says.
 */
export async function readMessages(sql: Sql, roots: Roots): Promise<Part> {
  if (roots.payments.length + roots.cashouts.length + roots.operations.length === 0) return {}
  const operations = await findOperations(sql, roots)
  const causes = new Set([
    ...roots.payments,
    ...roots.cashouts,
    ...operations.map(({ cause }) => cause),
  ])
  const ids: string[] = []
  for (const cause of causes) {
    ids.push(...said.flatMap((topic) => idsOf(topic, cause)))
    await endOfTurn() // Thousands of digests: whoever else is served by this process goes first.
  }
  const messages = (await Promise.all(senders.map((schema) => sentBy(sql, schema, ids)))).flat()
  const handled = await handledAmong(
    sql,
    messages.map(({ id }) => id),
  )
  return {
    entries: [
      ...messages.map((message) => entryOf(message, handled.get(message.id) ?? [])),
      ...(await deadAmong(
        sql,
        messages.map(({ id }) => id),
      )),
    ],
  }
}

/** As their owners name them: the first by its cause, a repeat by its number, or by its state and check. */
function idsOf(topic: Topic, cause: string): string[] {
  const numbers = Array.from({ length: repeatsMax }, (_, number) => number)
  const ofChecks =
    topic.stream === 'COMMANDS'
      ? returningStates.flatMap((state) => numbers.map((number) => `${state}:${number}`))
      : []
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

const sentBy = (sql: Sql, schema: (typeof senders)[number], ids: readonly string[]) =>
  sql<Message[]>`
    select id, subject, ${schema.replaceAll('_', '-')} as sender, request_id as "requestId",
      created_at as "createdAt", published_at as "publishedAt"
    from ${sql(schema)}.outbox where id = any(${[...ids]})`

type Handled = { consumer: string; attempts: number; lastError: string | null; doneAt: Date | null }

/** What each reader made of these, by message; also used of deliveries, which are messages as well. */
export async function handledAmong(sql: Sql, ids: readonly string[]) {
  const rows = await Promise.all(
    senders.map(
      (schema) => sql<(Handled & { id: string })[]>`
        select message_id as id, consumer, attempts, last_error as "lastError", done_at as "doneAt"
        from ${sql(schema)}.inbox
        where consumer = ${schema.replaceAll('_', '-')} and message_id = any(${[...ids]})`,
    ),
  )
  return Map.groupBy(rows.flat(), ({ id }) => id)
}

/** What became of a message at those who read it, in words. */
export const handlingIn = (handled: readonly Handled[]): string | false =>
  handled.length > 0 &&
  handled
    .map(({ consumer, attempts, lastError, doneAt }) =>
      sentence(
        doneAt ? `done by ${consumer} ${doneAt.toISOString()}` : `not done by ${consumer}`,
        attempts > 0 && `failed ${counted(attempts, 'time')}: ${lastError}`,
      ),
    )
    .join('; ')

const entryOf = (message: Message, handled: readonly Handled[]): Entry => ({
  ...{ at: message.createdAt, where: 'bus', what: 'message', id: message.id },
  says: sentence(
    `${message.sender} says ${message.subject}`,
    handlingIn(handled) || (isAwaited(message, handled) && 'nobody has handled it'),
    message.requestId && `request ${message.requestId}`,
  ),
  isOdd:
    handled.some(({ attempts }) => attempts > 0) ||
    (isAwaited(message, handled) && message.createdAt.getTime() < Date.now() - usualMs),
})

/** That it was published is marked some seconds later, and most messages are handled before. */
const usualMs = 60_000

/** Outcomes that nobody ordered by a message: whoever asked for them looks at the operation. */
const unordered: readonly RelayKind[] = ['send', 'giveback']
const unread = new Set(
  unordered.flatMap((kind) => [relaySettled(kind).subject, relayFailed(kind).subject]),
)

/** Messages that a service of ours reads: orders, and what became of them. */
export const readSubjects: ReadonlySet<string> = new Set(
  said
    .filter(
      ({ stream, publishers }) => stream === 'COMMANDS' || publishers.includes('chain-relayer'),
    )
    .map(({ subject }) => subject)
    .filter((subject) => !unread.has(subject)),
)

/** Somebody reads such messages, or it is not even published; and nobody has handled this one. */
const isAwaited = ({ subject, publishedAt }: Message, handled: readonly Handled[]): boolean =>
  handled.length === 0 && (readSubjects.has(subject) || publishedAt === null)

/** Messages that were given up on, among these. */
export async function deadAmong(sql: Sql, ids: readonly string[]): Promise<Entry[]> {
  const rows = await Promise.all(
    senders.map(
      (schema) => sql<
        { id: string; consumer: string; reason: string; diedAt: Date; redrivenAt: Date | null }[]
      >`
        select message_id as id, consumer, reason, died_at as "diedAt", redriven_at as "redrivenAt"
        from ${sql(schema)}.dead_letter
        where consumer = ${schema.replaceAll('_', '-')} and message_id = any(${[...ids]})`,
    ),
  )
  return rows.flat().map(({ id, consumer, reason, diedAt, redrivenAt }) => ({
    ...{ at: diedAt, where: 'bus', what: 'dead letter', id, isOdd: redrivenAt === null },
    says: sentence(
      `${consumer} gave up: ${reason}`,
      redrivenAt && `ended ${redrivenAt.toISOString()}`,
    ),
  }))
}
