import { type Reaction, reactTo } from '#shared/bus/reaction'
import { Malformed } from '#shared/bus/verdict'
import type { Tx } from '#shared/db/open'
import { announce } from '#shared/db/outbox.store'
import { failpoint } from '#shared/failpoint'
import { messageIdFor } from '#shared/ids'
import { IdentityDecided } from '#shared/messages/identity'
import { VerifyOrdered } from '#shared/messages/relay'
import { IdentityWebhook } from '#shared/messages/webhooks'
import type { Context } from '../context'
import { outbox } from '../schema.store'
import {
  decideIdentity,
  type IdentityDecision,
  nextCheckAt,
  scheduleOf,
  subjectOf,
} from './identity'
import { lockIdentity, storeVerdict } from './identity.store'
import { flagCause, flagOrderId } from './orders'
import type { Statement } from './provider'
import { noteVerdict } from './recheck.store'

/** A delivery of the identity provider moves the person's row and orders the flag on the chain. */
export const webhookReaction = (context: Context): Reaction =>
  reactTo(IdentityWebhook, {
    async apply(tx, message) {
      const { provider, log } = context
      if (message.provider !== provider.name)
        throw new Malformed(`a delivery of ${message.provider}, which is not configured`)
      const read = provider.parse(message.body)
      if ('fault' in read) throw new Malformed(`${message.provider}: ${read.fault}`)
      const decision = await applyStatement(tx, context, read.statement)
      if (!('ignored' in decision)) return
      const { eventId } = read.statement
      log.info({ eventId, why: decision.ignored }, 'identity statement ignored')
    },
  })

/** The one function through which a statement changes anything, told or found by asking. */
export async function applyStatement(
  tx: Tx,
  context: Context,
  statement: Statement,
): Promise<IdentityDecision> {
  const { config, clock, log } = context
  const provider = context.provider.name
  const { providerRef } = statement
  const subject = subjectOf(statement)
  const known = subject ? await lockIdentity(tx, subject) : undefined
  const decision = decideIdentity(known, statement, {
    level: config.identityLevel,
    environment: config.identityEnvironment,
  })
  if ('ignored' in decision) return decision
  const { wallet, next, flag } = decision
  const verdict = { wallet, next, provider, providerRef, ordered: flag !== null }
  await storeVerdict(tx, verdict, new Date(clock() + config.sweepAfterMs))
  const standing = { state: next.state, decidedAt: new Date(next.decidedAtMs), linkedAt: null }
  const askedAt = nextCheckAt(standing, scheduleOf(config), clock())
  await noteVerdict(tx, { wallet, provider, nextCheckAt: askedAt })
  if (flag !== null) await announceFlag(tx, wallet, flag, next.revision!, statement)
  log.info({ wallet, state: next.state, flag }, 'identity decided')
  failpoint('gateway:identity-decided')
  return decision
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
  const occurredAt = new Date(statement.occurredAtMs).toISOString()
  await announce(
    tx,
    outbox,
    IdentityDecided,
    messageIdFor(IdentityDecided, flagCause(wallet, revision)),
    {
      wallet,
      verified,
      occurredAt,
    },
  )
}
