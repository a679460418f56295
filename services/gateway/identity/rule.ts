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
  handler(PersonRule, async ({ command, wallet, linkedTo, replaced }) => {
    const ruling = linkedTo === null ? 'allowed' : 'linked'
    return ok(await decide(context, { wallet, ruling, linkedTo, command, replaced }))
  })

/** Withdraws the verification of a wallet for an operator, or takes the latest decision about it back. */
export const answerWithdraw = (context: Context): Handler =>
  handler(PersonWithdraw, async ({ command, wallet, to, replaced }) =>
    ok(await decide(context, { wallet, ruling: to, linkedTo: null, command, replaced })),
  )

/**
 * Stores a decision. One against the wallet takes effect at once; for one in its favour the recheck, due at once, needs the
 * provider's confirmation.
 */
async function decide(context: Context, decision: Ruled): Promise<{ done: string } | { refused: string }> {
  const { database, log, poke } = context
  const { wallet, ruling, linkedTo, command } = decision
  const refused = await database.transaction(async (tx) => {
    const outcome = await rule(tx, decision)
    if (!outcome && isAgainst(ruling)) await reapply(tx, context, wallet)
    return outcome
  })
  if (refused) return refused
  log.warn({ wallet, linkedTo, command }, `operator ${ruling} the person of a wallet`)
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
