import { type Handler, handler } from '#platform/bus/serve'
import type { Erasure } from '#platform/db/erasure'
import type { Database, Tx } from '#platform/db/open'
import type { Log } from '#platform/log'
import type { PersonErasure } from '#shared/messages/person'
import { ok } from '#shared/refusals'

const namedMax = 5

type Wallet = `0x${string}`
type ErasureSteps = {
  /** Returns the claims on the holder of a wallet, while which the data must stay. */
  readonly claimsOn?: (wallet: Wallet) => Promise<readonly string[]>
  /** Runs in the transaction of the erasure. */
  readonly afterwards?: (tx: Tx, asked: { command: string; wallet: Wallet }) => Promise<unknown>
}

/** Answers requests to erase a wallet. It refuses while money or an order of the wallet is in progress, or a claim exists. */
export const answerErasure = (
  { database, log }: { readonly database: Database; readonly log: Log },
  question: PersonErasure,
  { lock, onItsWay, empty }: Erasure,
  { claimsOn = async () => [], afterwards = async () => {} }: ErasureSteps = {},
): Handler =>
  handler(question, async ({ wallet, check, command }) => {
    // guard: a wallet with a claim is not erased
    const claims = await claimsOn(wallet)
    const open = await database.transaction(async (tx) => {
      await lock(tx, wallet)
      const found = await tx.execute<{ why: string }>(onItsWay(wallet))
      const reasons = [...claims, ...found.map(({ why }) => why)]
      if (reasons.length > 0 || check) return reasons
      for (const statement of empty(wallet)) await tx.execute(statement)
      await afterwards(tx, { command, wallet })
      return []
    })
    if (open.length === 0) {
      if (!check) log.info({ command }, 'personal data erased')
      return ok({ done: check ? 'nothing prevents it' : 'erased' })
    }
    const more = open.length - namedMax
    const named = open.slice(0, namedMax).join('; ')
    return ok({ refused: more > 0 ? `${named}; and ${more} more` : named })
  })
