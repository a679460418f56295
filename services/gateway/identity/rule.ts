import { type Handler, handler } from '#platform/bus/serve'
import { PersonRule } from '#shared/messages/person'
import { ok } from '#shared/refusals'
import type { Context } from '../context'
import { rule } from './person.store'

/** Changes no verdict: the recheck, due at once, applies the decision to the provider's answer. */
export const answerRule = ({ database, log }: Context): Handler =>
  handler(PersonRule, async ({ deed, wallet, linkedTo, replaced }) => {
    const ruling = linkedTo === null ? 'allowed' : 'linked'
    const refused = await database.transaction((tx) =>
      rule(tx, { wallet, ruling, linkedTo, deed, replaced }),
    )
    if (refused) return ok(refused)
    log.warn({ wallet, linkedTo, deed }, `operator ${ruling} the person of a wallet`)
    const done =
      linkedTo === null
        ? 'allowed: verified once the provider confirms its approval'
        : `linked to ${linkedTo}: not verified, or no longer`
    return ok({ done })
  })
