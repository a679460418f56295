import { sql } from 'drizzle-orm'
import { erasedNote, isBefore, withDeadLetters } from '#platform/db/erasure'
import { deadLetters } from '../schema.store'
import { requests } from '../unsolicited-deposits/request.store'
import { isOpen, operations } from './operation.table'
import { lockWallet } from './wallet.store'

const isAwaited = sql`(${isOpen({ state: sql`state` })} or watch_at is not null)`

/** The erasure of a wallet. Signed transfers stay: they are public on the chain, and they prevent repeats. */
export const erasure = withDeadLetters(
  deadLetters,
  (wallet) => sql`select ${wallet} union all select id from ${operations} where wallet = ${wallet}`,
  {
    // guard: an erasure waits for an order of its wallet that is being stored
    lock: lockWallet,
    onItsWay: (wallet) => sql`select kind || ' ' || cause || ' is not final on chain' as why
      from ${operations} where wallet = ${wallet} and ${isAwaited}`,
    empty: (wallet, repeated) => [
      sql`update ${requests} set reason = ${erasedNote}
        where wallet = ${wallet} and ${isBefore('asked_at', repeated)}`,
    ],
  },
)
