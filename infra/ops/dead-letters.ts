import type { Sql } from 'postgres'
import { type DatabaseRole, databaseRoles, serviceOf } from '#infra/migrations/databases'
import { operatorDatabaseUrl, operatorSecrets, withDatabase } from '#infra/ops/stack'
import { runCommand } from '#shared/command'

/** A message that a service gave up on. Its payload stays in the row: it may name a person. */
export type DeadLetter = {
  service: string
  consumer: string
  messageId: string
  subject: string
  reason: string
  diedAt: Date
  redriveRequestedAt: Date | null
}

/** Pricing, the indexer and the job of the books read no messages. */
const withoutMessages: readonly DatabaseRole[] = ['pricing', 'indexer_reader', 'books']
/** The services that read messages. */
const roles = databaseRoles.filter((role) => !withoutMessages.includes(role))

/** What was given up on and not handled since, oldest first. */
export async function listDeadLetters(sql: Sql): Promise<DeadLetter[]> {
  const found = await Promise.all(roles.map((role) => deadLettersOf(sql, role)))
  return found.flat().sort((left, right) => left.diedAt.getTime() - right.diedAt.getTime())
}

const deadLettersOf = (sql: Sql, role: DatabaseRole) => sql<DeadLetter[]>`
  select ${serviceOf(role)} as service, consumer, message_id as "messageId", subject, reason,
    died_at as "diedAt", redrive_requested_at as "redriveRequestedAt"
  from ${sql(role)}.dead_letter where redriven_at is null`

/**
 * Asks the service to handle a dead letter again, which it does within seconds. Says how many it was:
 * none when it was handled meanwhile, or when somebody has asked for it already.
 */
export async function requestRedrive(
  sql: Sql,
  deadLetter: Pick<DeadLetter, 'service' | 'consumer' | 'messageId'>,
): Promise<number> {
  const role = roles.find((name) => serviceOf(name) === deadLetter.service)
  if (!role) throw new Error(`no service ${deadLetter.service}: one of ${roles.map(serviceOf)}`)
  const asked = await sql`
    update ${sql(role)}.dead_letter set redrive_requested_at = now()
    where consumer = ${deadLetter.consumer} and message_id = ${deadLetter.messageId}
      and redriven_at is null and redrive_requested_at is null`
  return asked.count
}

const usage = `usage: bun infra/ops/dead-letters.ts list
       bun infra/ops/dead-letters.ts redrive <service> <consumer> <message>
       bun infra/ops/dead-letters.ts redrive-all`

async function run(sql: Sql, [verb, service, consumer, messageId]: string[]): Promise<string> {
  if (verb === 'redrive' && service && consumer && messageId) {
    return `redrives asked for: ${await requestRedrive(sql, { service, consumer, messageId })}`
  }
  const deadLetters = await listDeadLetters(sql)
  if (verb === 'redrive-all') {
    let asked = 0
    for (const deadLetter of deadLetters) asked += await requestRedrive(sql, deadLetter)
    return `redrives asked for: ${asked}`
  }
  if (verb !== 'list') return usage
  return deadLetters.length === 0 ? 'no dead letters' : deadLetters.map(lineOf).join('\n')
}

const lineOf = (deadLetter: DeadLetter): string =>
  [
    deadLetter.diedAt.toISOString(),
    deadLetter.service,
    deadLetter.consumer,
    deadLetter.messageId,
    deadLetter.subject,
    deadLetter.redriveRequestedAt ? '(redrive asked for)' : '',
    deadLetter.reason,
  ].join('  ')

if (import.meta.main) {
  await runCommand(operatorSecrets, async (say) =>
    say(await withDatabase(operatorDatabaseUrl(), (sql) => run(sql, process.argv.slice(2)))),
  )
}
