import { type Handler, handler } from '#platform/bus/serve'
import { FlagOrder, PersonRule, PersonWithdraw } from '#shared/messages/person'
import { ok } from '#shared/refusals'
import type { Context } from '../context'
import { lockIdentity, renewFlag } from './identity.store'
import { isAgainst, type Ruling } from './person'
import { type Ruled, rule } from './person.store'
import { reapply } from './verdict'

/** Stores an operator's decision about whether the person of a wallet may have their record there. */
export const answerRule = (context: Context): Handler =>
  handler(PersonRule, async ({ command, wallet, linkedTo, replaced, by, reason }) => {
    const ruling = linkedTo === null ? 'allowed' : 'linked'
    return ok(await decide(context, { wallet, ruling, linkedTo, command, replaced }, { by, reason }))
  })

/** Withdraws the verification of a wallet for an operator, or takes the latest decision about it back. */
export const answerWithdraw = (context: Context): Handler =>
  handler(PersonWithdraw, async ({ command, wallet, to, replaced, by, reason }) =>
    ok(await decide(context, { wallet, ruling: to, linkedTo: null, command, replaced }, { by, reason })),
  )

/**
 * Stores a decision. One against the wallet takes effect at once; for one in its favour the recheck, due at once, needs the
 * provider's confirmation.
 */
async function decide(
  context: Context,
  decision: Ruled,
  because: { by: string; reason: string },
): Promise<{ done: string } | { refused: string }> {
  const { database, log, poke } = context
  const { wallet, ruling, linkedTo, command } = decision
  const refused = await database.transaction(async (tx) => {
    const outcome = await rule(tx, decision)
    if (!outcome && isAgainst(ruling)) await reapply(tx, context, wallet)
    return outcome
  })
  if (refused) return refused
  log.warn({ wallet, ruling, linkedTo, command, ...because }, 'person of a wallet ruled on by operator')
  poke()
  return { done: doneText[ruling](linkedTo) }
}

const doneText: Readonly<Record<Ruling, (linkedTo: string | null) => string>> = {
  allowed: () => 'allowed: verified once the provider confirms its approval',
  linked: (linkedTo) => `linked to ${linkedTo}: not verified, or no longer`,
  withdrawn: () => 'withdrawn: not verified, or no longer, until persons restore',
  restored: () => 'restored: verified once the provider confirms its approval, if no other wallet has the record',
}

/** Orders a failed flag again, under a new revision, because the relayer acts once per revision. */
export const answerFlagOrder = ({ database, log }: Context): Handler =>
  handler(FlagOrder, async ({ command, wallet, revision: asked, by, reason }) => {
    const revision = BigInt(asked)
    const ordered = await database.transaction(async (tx) => {
      const known = await lockIdentity(tx, wallet)
      if (known?.revision === revision) return renewFlag(tx, wallet)
      return known?.revision === revision + 1n
    })
    if (!ordered) return ok({ refused: 'the relayer has given up no flag of this wallet' })
    log.warn({ wallet, command, by, reason }, 'verified flag ordered again by operator')
    return ok({ done: 'the flag is ordered; if the relayer gives it up again, it is listed again' })
  })
