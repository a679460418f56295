import { sql } from 'drizzle-orm'
import { answerErasure } from '#platform/bus/erasing'
import { isBefore, withDeadLetters } from '#platform/db/erasure'
import { announce } from '#platform/db/outbox.store'
import { messageIdFor } from '#shared/ids'
import { IdentityErased } from '#shared/messages/identity'
import { personErasures } from '#shared/messages/person'
import type { Context } from '../context'
import { identities, lockIdentity } from '../identity/identity.store'
import { links } from '../identity/link.store'
import { rechecks } from '../identity/recheck.store'
import { deadLetters, outbox } from '../schema.store'
import { users } from './user.store'

/**
 * Erasure of a person's data in the gateway. An approval that is no longer rechecked becomes a reset, whose
 * flag the sweep orders. The first verification and operators' decisions stay: while the provider recognises the person, it
 * cannot start a second record. `chain-relayer` refuses the erasure while there is a claim on the person.
 */
export const erasure = withDeadLetters(
  deadLetters,
  (wallet) => sql`select ${wallet}
    union all select provider_ref from ${identities} where wallet = ${wallet}
    union all select provider_ref from ${links} where wallet = ${wallet}`,
  {
    lock: lockIdentity,
    onItsWay: (wallet) => sql`select 'an order of the verdict ' || state || ' is not on chain' as why
      from ${identities} where wallet = ${wallet} and check_at is not null`,
    empty: (wallet, repeated) => [
      sql`update ${users} set country = null where wallet = ${wallet}`,
      sql`update ${links} set provider_ref = null
        where wallet = ${wallet} and ${isBefore('created_at', repeated)}`,
      sql`update ${rechecks} set progress = null, progressed_at = null, linked_at = null,
          next_check_at = null, failures = 0, updated_at = now()
        where wallet = ${wallet} and ${isBefore('created_at', repeated)}`,
      sql`update ${identities} set provider_ref = null, state = 'reset', decided_at = now(),
          revision = greatest(coalesce(revision, -1) + 1, floor(extract(epoch from now()) * 1000)),
          flag_settled_at = null, flag_failed_at = null, failed_at = null, failure = null, sweeps = 0, check_at = now(),
          updated_at = now()
        where wallet = ${wallet} and state = 'verified' and ${isBefore('decided_at', repeated)}`,
      sql`update ${identities} set state = 'reset', same_as = null
        where wallet = ${wallet} and state = 'duplicate' and ${isBefore('decided_at', repeated)}`,
      sql`update ${identities} set provider_ref = null, failure = null, named = '{}'
        where wallet = ${wallet} and ${isBefore('decided_at', repeated)}`,
    ],
  },
)

/** Erases a wallet's data, and announces each erasure, which a restore repeats. */
export const answerErase = (context: Context) =>
  answerErasure(context, personErasures.gateway, erasure, {
    afterwards: async (tx, { command, wallet }) => {
      const erased = { wallet, erasedAt: new Date(context.clock()).toISOString() }
      announce(tx, outbox, IdentityErased, messageIdFor(IdentityErased, command), erased)
    },
  })
