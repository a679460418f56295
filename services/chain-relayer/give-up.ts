import type { Operation } from './operation.store'
import { fail } from './outcome.store'
import type { Relayer } from './relayer'

/** Ends an operation that no transaction bears. */
export async function giveUp(
  relayer: Relayer,
  operation: Operation,
  reason: string,
  alarm: boolean,
) {
  const failed = await relayer.database.transaction((tx) => fail(tx, operation, reason))
  if (!failed) return
  const fields = { operationId: operation.id, kind: operation.kind, reason, alarm }
  relayer.log[alarm ? 'error' : 'info'](fields, 'operation failed')
  relayer.poke()
}
