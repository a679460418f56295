import { drizzle } from 'drizzle-orm/postgres-js'
import type { CommandQuestion } from '#infra/operations/audit-log/perform'
import { approvals as table } from '#infra/operations/audit-log/schema.store'
import { type CommandReply, type SigningOperator, signedOutcome } from '#infra/operations/audit-log/signed-outcome'
import { openConnection } from '#infra/operations/cli/connection'
import { type Operator, operatorAccess } from '#infra/operations/cli/operator'
import { handler } from '#platform/bus/serve'
import type { Tx } from '#platform/db/open'
import type { WorthOf } from '#shared/messages/operator-commands'
import type { AnswerOf, RequestOf } from '#shared/messages/topic'
import { type CommandGuard, guarded } from '#shared/operators/guard'
import { ok } from '#shared/refusals'

/**
 * Carries out a command that no service owns, behind the same check. It runs with the rights of its operator, so the check
 * keeps no one out who holds the database's passwords: it keeps a mistake from happening, and the audit log true.
 */
export async function performHere<Q extends CommandQuestion>(
  { sql, signing }: Pick<Operator, 'sql'> & SigningOperator,
  question: Q,
  request: RequestOf<Q>,
  { work, worth }: { work: () => Promise<CommandReply>; worth: WorthOf<Q> },
): Promise<CommandReply> {
  if (!signing) return work()
  // Drizzle changes how its client reads and writes times and JSON, so it gets a client of its own.
  const own = openConnection(operatorAccess().databaseUrl, 1)
  const db = drizzle(own)
  const database: NonNullable<CommandGuard['approvals']>['database'] = {
    read: async (read) => read(db),
    run: async (write) => write(db),
    transaction: (change) => db.transaction(async (tx) => change(tx as Tx)),
  }
  const guard = { ...signing.signer.rules, approvals: { database, table, isInsertOnly: true }, clock: Date.now }
  const carryOut = handler(question, async () => ok(await work()) as AnswerOf<Q>, worth)
  const { answer } = guarded(guard, carryOut)
  const send = async (signed: object) => ((await answer(signed)) as { ok: CommandReply }).ok
  try {
    return await signedOutcome({ sql, signing }, question.subject, request as { command: string }, send)
  } finally {
    await own.end({ timeout: 1 })
  }
}
