import { type Handler, handler } from '#platform/bus/serve'
import type { Erasure } from '#platform/db/erasure'
import type { Database, Tx } from '#platform/db/open'
import type { Log } from '#platform/log'
import type { PersonErasure } from '#shared/messages/person'
import { ok } from '#shared/refusals'

const namedMax = 5

/**
 * Answers requests to erase a wallet. It refuses while money or an order of the wallet is in progress. `then` runs in
 * the same transaction.
 */
export const answerErasure = (
  { database, log }: { readonly database: Database; readonly log: Log },
  question: PersonErasure,
  { lock, onItsWay, empty }: Erasure,
  then: (tx: Tx, asked: { command: string; wallet: `0x${string}` }) => Promise<unknown> = async () => {},
): Handler =>
  handler(question, async ({ wallet, check, command }) => {
    const open = await database.transaction(async (tx) => {
      await lock(tx, wallet)
      const found = await tx.execute<{ why: string }>(onItsWay(wallet))
      if (found.length > 0 || check) return found.map(({ why }) => why)
      for (const statement of empty(wallet)) await tx.execute(statement)
      await then(tx, { command, wallet })
      return []
    })
    if (open.length === 0) {
      if (!check) log.info({ command }, 'personal data erased')
      return ok({ done: check ? 'nothing is on its way' : 'erased' })
    }
    const more = open.length - namedMax
    const named = open.slice(0, namedMax).join('; ')
    return ok({ refused: more > 0 ? `${named}; and ${more} more` : named })
  })
