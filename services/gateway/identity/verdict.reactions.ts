import { type Reaction, reactTo } from '#shared/bus/reaction'
import { Malformed } from '#shared/bus/verdict'
import type { Clock } from '#shared/clock'
import type { Tx } from '#shared/db/open'
import { announce } from '#shared/db/outbox.store'
import { failpoint } from '#shared/failpoint'
import { idFor } from '#shared/ids'
import type { Log } from '#shared/log'
import { IdentityDecided } from '#shared/messages/identity'
import { VerifyOrdered } from '#shared/messages/relay'
import { IdentityWebhook } from '#shared/messages/webhooks'
import { outbox } from '../schema.store.ts'
import { lockIdentity, storeVerdict } from './identity.store.ts'
import { decideIdentity, type IdentityPolicy, subjectOf } from './identity.ts'
import type { IdentityProvider, Statement } from './identity-provider.ts'
import { flagCause, flagOrderId } from './orders.ts'

/** What judging a statement needs; `sweepAfterMs` is when an order counts as quiet. */
export type VerdictParts = {
  provider: Pick<IdentityProvider, 'name' | 'parse'>
  policy: IdentityPolicy
  sweepAfterMs: number
  clock: Clock
  log: Log
}

/** A delivery of the identity provider moves the person's row and orders the flag on the chain. */
export const verdictReactions = (parts: VerdictParts): readonly Reaction[] => [
  reactTo(IdentityWebhook, {
    async apply(tx, message) {
      if (message.provider !== parts.provider.name)
        throw new Malformed(`a delivery of ${message.provider}, which is not configured`)
      const read = parts.provider.parse(message.body)
      if ('fault' in read) throw new Malformed(`${message.provider}: ${read.fault}`)
      await applyStatement(tx, parts, read.statement)
    },
  }),
]

/** The one function through which a statement changes anything. */
export async function applyStatement(tx: Tx, parts: VerdictParts, statement: Statement) {
  const { log, policy, provider, clock, sweepAfterMs } = parts
  const wallet = subjectOf(statement)
  const known = wallet ? await lockIdentity(tx, wallet) : undefined
  const decision = decideIdentity(known, statement, policy)
  if ('ignored' in decision) {
    log.info({ eventId: statement.eventId, why: decision.ignored }, 'identity statement ignored')
    return
  }
  const { next, flag } = decision
  await storeVerdict(
    tx,
    {
      wallet: decision.wallet,
      next,
      provider: provider.name,
      providerRef: statement.providerRef,
      ordered: flag !== null,
    },
    new Date(clock() + sweepAfterMs),
  )
  if (flag !== null) await announceFlag(tx, decision.wallet, flag, next.revision!, statement)
  log.info({ wallet: decision.wallet, state: next.state, flag }, 'identity decided')
  failpoint('gateway:identity-decided')
}

async function announceFlag(
  tx: Tx,
  wallet: `0x${string}`,
  verified: boolean,
  revision: bigint,
  statement: Statement,
) {
  const order = { wallet, verified, revision: String(revision) }
  await announce(tx, outbox, VerifyOrdered, flagOrderId(wallet, revision), order)
  const cause = `${IdentityDecided.subject}:${flagCause(wallet, revision)}`
  const occurredAt = new Date(statement.occurredAtMs).toISOString()
  await announce(tx, outbox, IdentityDecided, idFor('message', cause), {
    wallet,
    verified,
    occurredAt,
  })
}
