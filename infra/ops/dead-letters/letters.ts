import type { Sql } from 'postgres'
import { deadLetterDecisions, type Reader } from '#shared/messages/dead-letters'
import { fieldRemover } from '#shared/redaction'

/** A message that a service gave up on. Its payload stays in the row: it may name a person. */
export type DeadLetter = {
  service: Reader
  messageId: string
  subject: string
  reason: string
  diedAt: Date
  /** When it was given up on first: each time an operator had it handled again is a deed. */
  firstDiedAt: Date
  redriveRequestedAt: Date | null
}

/** Letters of one service that died of the same thing. */
export type Group = {
  /** By which it is named: made of what is the same in it, so that it stays. */
  id: string
  service: Reader
  subject: string
  error: string
  count: number
  firstAt: Date
  lastAt: Date
  /** The oldest of it. */
  sample: string
}

const readers = Object.keys(deadLetterDecisions) as Reader[]

/** What was given up on and not ended since, oldest first. */
export async function listDeadLetters(sql: Sql): Promise<DeadLetter[]> {
  const found = await Promise.all(
    readers.map(
      (service) => sql<DeadLetter[]>`
        select ${service} as service, message_id as "messageId", subject, reason,
          died_at as "diedAt", redrive_requested_at as "redriveRequestedAt",
          least(died_at, (select min(cause)::timestamptz from ops.deeds
            where verb = 'dead-letters redrive' and target = ${service} || ':' || message_id
          )) as "firstDiedAt"
        from ${sql(schemaOf(service))}.dead_letter where redriven_at is null`,
    ),
  )
  return found.flat().sort((left, right) => left.diedAt.getTime() - right.diedAt.getTime())
}

const schemaOf = (service: Reader): string => service.replaceAll('-', '_')

/** Those that a word names: a message, a group, or `all`. Of two services one message may be dead twice. */
export const lettersNamed = (letters: readonly DeadLetter[], word: string): DeadLetter[] =>
  letters.filter(
    (letter) => word === 'all' || letter.messageId === word || groupIdOf(letter) === word,
  )

/** The largest first. */
export function groupsOf(letters: readonly DeadLetter[]): Group[] {
  const groups = [...Map.groupBy(letters, groupIdOf)].map(([id, same]): Group => {
    const [oldest] = same
    const { service, messageId, subject } = oldest!
    return {
      ...{ id, service, subject: kindOf(subject), error: sameIn(oldest!.reason) },
      ...{
        count: same.length,
        firstAt: new Date(Math.min(...same.map(firstMs))),
        lastAt: same.at(-1)!.diedAt,
      },
      sample: messageId,
    }
  })
  return groups.sort((left, right) => right.count - left.count)
}

const firstMs = ({ firstDiedAt }: DeadLetter): number => firstDiedAt.getTime()

/** Eight digits of a hash are typed, and name each of the few groups there are. */
export const groupIdOf = ({ service, subject, reason }: DeadLetter): string =>
  new Bun.CryptoHasher('sha256')
    .update([service, kindOf(subject), sameIn(reason)].join('\n'))
    .digest('hex')
    .slice(0, 8)

/** Without the name of the one delivery. */
const kindOf = (subject: string): string => subject.replace(/^(webhooks\.\w+\.\w+)\..*$/, '$1')

/** An error without what differs from one message to the next: ids, hashes, numbers. */
const sameIn = (reason: string): string =>
  reason
    .replace(/0x[0-9a-fA-F]{6,}/g, '…')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, '…')
    .replace(/\b[a-z]{2,4}[_-][\w-]{16,}/g, '…')
    .replace(/[0-9]+/g, '#')

/** What a letter is, with what it said; of what people and providers wrote, only that it is there. */
export async function readLetter(sql: Sql, { service, messageId }: DeadLetter) {
  const [row] = await sql<{ payload: unknown; attempts: number | null }[]>`
    select d.payload, i.attempts from ${sql(schemaOf(service))}.dead_letter d
    left join ${sql(schemaOf(service))}.inbox i
      on i.consumer = d.consumer and i.message_id = d.message_id
    where d.consumer = ${service} and d.message_id = ${messageId}`
  return { attempts: row?.attempts ?? null, payload: withoutPrivate(row?.payload) }
}

const withoutPrivate = fieldRemover(new Set(['body', 'authorization', 'signature', 'bank']))

/** What came of a letter since it died then: it ended, died anew, or is to be handled still. */
export async function outcomeOf(sql: Sql, { service, messageId, diedAt }: DeadLetter) {
  const [row] = await sql<{ ended: boolean; again: boolean; reason: string }[]>`
    select redriven_at is not null as ended, died_at <> ${diedAt} as again, reason
    from ${sql(schemaOf(service))}.dead_letter
    where consumer = ${service} and message_id = ${messageId}`
  return row ?? { ended: true, again: false, reason: 'its row was removed' }
}
