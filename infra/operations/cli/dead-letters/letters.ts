import type { Sql } from 'postgres'
import { type Messenger, messengers, serviceOf } from '#infra/migrations/databases'
import { fieldRemover } from '#platform/redaction'
import type { LetterReader } from '#shared/messages/dead-letters'

/** Dead letter without its payload, which may contain personal data. */
export type DeadLetterSummary = {
  service: LetterReader
  messageId: string
  subject: string
  reason: string
  diedAt: Date
  /** Time of the first failure. Each redrive is a recorded command with the time of the failure before it. */
  firstDiedAt: Date
  redriveRequestedAt: Date | null
}

export type Group = {
  /** Id that is derived from service, subject and error, so that it stays the same. */
  id: string
  service: LetterReader
  subject: string
  error: string
  count: number
  firstAt: Date
  lastAt: Date
  sample: string
}

const schemas = new Map<string, Messenger>(messengers.map((schema) => [serviceOf(schema), schema]))
const schemaOf = (service: LetterReader): Messenger => schemas.get(service)!

/** Returns the open dead letters, oldest first. */
export async function listDeadLetters(sql: Sql): Promise<DeadLetterSummary[]> {
  const found = await Promise.all(
    [...schemas].map(
      ([service, schema]) => sql<DeadLetterSummary[]>`
        select ${service} as service, message_id as "messageId", subject, reason,
          died_at as "diedAt", redrive_requested_at as "redriveRequestedAt",
          least(died_at, (select min(cause)::timestamptz from ops.commands
            where verb = 'dead-letters redrive' and target = ${service} || ':' || message_id
          )) as "firstDiedAt"
        from ${sql(schema)}.dead_letter where redriven_at is null`,
    ),
  )
  return found.flat().sort((left, right) => left.diedAt.getTime() - right.diedAt.getTime())
}

/**
 * Returns the letters that `word` selects: a message, a group or `all`. Two services may have dead-lettered the same
 * message.
 */
export const lettersNamed = (letters: readonly DeadLetterSummary[], word: string): DeadLetterSummary[] =>
  letters.filter((letter) => word === 'all' || letter.messageId === word || groupIdOf(letter) === word)

/** Groups letters by service, subject and error, largest group first. */
export function groupsOf(letters: readonly DeadLetterSummary[]): Group[] {
  const groups = [...Map.groupBy(letters, keyOf).values()].map((same): Group => {
    const [oldest] = same
    const { service, messageId, subject } = oldest!
    return {
      id: groupIdOf(oldest!),
      service,
      subject: kindOf(subject),
      error: sameIn(oldest!.reason),
      count: same.length,
      firstAt: new Date(Math.min(...same.map(firstMs))),
      lastAt: same.at(-1)!.diedAt,
      sample: messageId,
    }
  })
  return groups.sort((left, right) => right.count - left.count)
}

const firstMs = ({ firstDiedAt }: DeadLetterSummary): number => firstDiedAt.getTime()

/** Returns an id that is short to type, and unique among few groups. */
export const groupIdOf = (letter: DeadLetterSummary): string =>
  new Bun.CryptoHasher('sha256').update(keyOf(letter)).digest('hex').slice(0, 8)

const keyOf = ({ service, subject, reason }: DeadLetterSummary): string =>
  [service, kindOf(subject), sameIn(reason)].join('\n')

const kindOf = (subject: string): string => subject.replace(/^(webhooks\.\w+\.\w+)\..*$/, '$1')

const sameIn = (reason: string): string =>
  reason
    .replace(/0x[0-9a-fA-F]{6,}/g, '…')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, '…')
    .replace(/\b[a-z]{2,4}[_-][\w-]{16,}/g, '…')
    .replace(/[0-9]+/g, '#')

/** Returns a letter without personal and provider data. */
export async function readLetter(sql: Sql, { service, messageId }: DeadLetterSummary) {
  const [row] = await sql<{ payload: unknown; attempts: number | null }[]>`
    select d.payload, i.attempts from ${sql(schemaOf(service))}.dead_letter d
    left join ${sql(schemaOf(service))}.inbox i
      on i.consumer = d.consumer and i.message_id = d.message_id
    where d.consumer = ${service} and d.message_id = ${messageId}`
  return { attempts: row?.attempts ?? null, payload: withoutPrivate(row?.payload) }
}

const withoutPrivate = fieldRemover(new Set(['body', 'authorization', 'signature', 'bank']))

export async function outcomeOf(sql: Sql, { service, messageId, diedAt }: DeadLetterSummary) {
  const [row] = await sql<{ ended: boolean; again: boolean; reason: string }[]>`
    select redriven_at is not null as ended, died_at <> ${diedAt} as again, reason
    from ${sql(schemaOf(service))}.dead_letter
    where consumer = ${service} and message_id = ${messageId}`
  return row ?? { ended: true, again: false, reason: 'its row was removed' }
}
