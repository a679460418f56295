import { type Handler, handler } from '#platform/bus/serve'
import { FlagOrder, PersonRule } from '#shared/messages/person'
import { ok } from '#shared/refusals'
import type { Context } from '../context'
import { lockIdentity, renewFlag } from './identity.store'
import { rule } from './person.store'

/**
 * Stores an operator's decision. It changes no verdict: the recheck, due at once, applies the decision to the
 * provider's answer.
 */
export const answerRule = ({ database, log }: Context): Handler =>
  handler(PersonRule, async ({ command, wallet, linkedTo, replaced }) => {
    const ruling = linkedTo === null ? 'allowed' : 'linked'
    const refused = await database.transaction((tx) => rule(tx, { wallet, ruling, linkedTo, command, replaced }))
    if (refused) return ok(refused)
    log.warn({ wallet, linkedTo, command }, `operator ${ruling} the person of a wallet`)
    const done =
      linkedTo === null
        ? 'allowed: verified once the provider confirms its approval'
        : `linked to ${linkedTo}: not verified, or no longer`
    return ok({ done })
  })

/** Orders a failed flag again, under a new revision, because the relayer acts once per revision. */
export const answerFlagOrder = ({ database, log }: Context): Handler =>
  handler(FlagOrder, async ({ command, wallet, revision: asked }) => {
    const revision = BigInt(asked)
    const ordered = await database.transaction(async (tx) => {
      const known = await lockIdentity(tx, wallet)
      if (known?.revision === revision) return renewFlag(tx, wallet)
      return known?.revision === revision + 1n
    })
    if (!ordered) return ok({ refused: 'the relayer has given up no flag of this wallet' })
    log.warn({ wallet, command }, 'operator ordered the verified flag again')
    return ok({ done: 'the flag is ordered; if the relayer gives it up again, it is listed again' })
  })
