import { LRUCache } from 'lru-cache'
import type { Static } from 'typebox'
import { announce } from '#platform/db/outbox.store'
import { dayOf, isRefillDue } from '#shared/chain/refill'
import { messageIdFor } from '#shared/ids'
import type { ChainAccount } from '#shared/messages/chain'
import { DripOrdered } from '#shared/messages/relay'
import type { Context } from '../context'
import { outbox } from '../schema.store'

type Account = Static<(typeof ChainAccount)['answer']>

export const refillOrderId = (wallet: string, day: string) => messageIdFor(DripOrdered, `${wallet}:${day}`)

/**
 * Returns a function that orders the refill of an account that may be due one, at most once for each UTC day. The relayer
 * knows how many refills the wallet had, and decides. A user whose gas is short looks at the account first, so that no
 * other wallets have to be watched.
 */
export function openRefills({ database, clock, log, poke }: Pick<Context, 'database' | 'clock' | 'log' | 'poke'>) {
  const ordered = new LRUCache<string, string>({ max: 10_000 })
  return async (account: Account): Promise<void> => {
    const { wallet } = account
    const refill = dayOf(clock())
    if (!isRefillDue(account, 0) || ordered.get(wallet) === refill) return
    ordered.set(wallet, refill)
    try {
      const order = { wallet, refill }
      await database.transaction((tx) => announce(tx, outbox, DripOrdered, refillOrderId(wallet, refill), order))
      poke()
    } catch (error) {
      ordered.delete(wallet)
      log.warn({ err: error, wallet }, 'refill not ordered, will retry')
    }
  }
}
