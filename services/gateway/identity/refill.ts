import { LRUCache } from 'lru-cache'
import type { Static } from 'typebox'
import { announce } from '#platform/db/outbox.store'
import { dripCause, isRefillDue, refillNameOf } from '#shared/chain/refill'
import { messageIdFor } from '#shared/ids'
import type { ChainAccount } from '#shared/messages/chain'
import { DripOrdered } from '#shared/messages/relay'
import type { Context } from '../context'
import { outbox } from '../schema.store'

type Account = Static<(typeof ChainAccount)['answer']>

/**
 * Returns a function that orders the refill of an account that may be due one, at most once for each name of a refill. The
 * relayer knows which refills the wallet had, and decides. A user whose gas is short looks at the account first, so that no
 * other wallets have to be watched.
 */
export function openRefills({ database, clock, log, poke }: Pick<Context, 'database' | 'clock' | 'log' | 'poke'>) {
  const ordered = new LRUCache<string, string>({ max: 10_000 })
  return async (account: Account): Promise<void> => {
    const { wallet } = account
    if (!isRefillDue(account, 0)) return
    const order = { wallet, ...refillNameOf(account, clock()) }
    const cause = dripCause(order)
    if (ordered.get(wallet) === cause) return
    ordered.set(wallet, cause)
    try {
      await database.transaction((tx) => announce(tx, outbox, DripOrdered, messageIdFor(DripOrdered, cause), order))
      poke()
    } catch (error) {
      ordered.delete(wallet)
      log.warn({ err: error, wallet }, 'refill not ordered, will retry')
    }
  }
}
