import { sql } from 'drizzle-orm'
import { erasedNote, isBefore, withDeadLetters } from '#platform/db/erasure'
import { wallets } from '../losses/refund.store'
import { lockWallet } from '../payment.store'
import { isExpected, payments } from '../payment.table'
import { deadLetters } from '../schema.store'
import { resolutions } from './resolution.store'

/** Erasure of a person's data in payments. The provider's ids stay, because late money is matched by them. */
export const erasure = withDeadLetters(
  deadLetters,
  (wallet) => sql`select ${wallet}
    union all select unnest(array[id, checkout_id, payment_request_id, provider_payment_id])
      from ${payments} where wallet = ${wallet}`,
  {
    lock: lockWallet,
    onItsWay: (wallet) => sql`select 'payment ' || id || ' is ' || state as why
      from ${payments} where wallet = ${wallet} and ${isExpected(payments)}
      union all select 'the wallet is frozen for a loss' from ${wallets}
        where wallet = ${wallet} and frozen`,
    empty: (wallet, repeated) => [
      sql`update ${payments} set checkout_url = null
        where wallet = ${wallet} and checkout_url is not null and not ${isExpected(payments)}
          and ${isBefore('created_at', repeated)}`,
      sql`update ${resolutions} set reason = ${erasedNote}
        where payment_id in (select id from ${payments} where wallet = ${wallet})
          and ${isBefore('decided_at', repeated)}`,
    ],
  },
)
