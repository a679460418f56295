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
import {
  decideIdentity,
  type IdentityDecision,
  type IdentityPolicy,
  subjectOf,
} from './identity.ts'
import type { IdentityProvider, Statement } from './identity-provider.ts'
import { flagCause, flagOrderId } from './orders.ts'
import { noteVerdict } from './recheck.store.ts'
import { nextCheckAt, type RecheckSchedule } from './schedule.ts'

/** What judging a statement needs; `sweepAfterMs` is when an order counts as quiet. */
export type VerdictParts = {
  provider: Pick<IdentityProvider, 'name'>
  policy: IdentityPolicy
  schedule: RecheckSchedule
  sweepAfterMs: number
  clock: Clock
  log: Log
}
type WebhookParts = VerdictParts & { provider: Pick<IdentityProvider, 'name' | 'parse'> }

/** A delivery of the identity provider moves the person's row and orders the flag on the chain. */
export const verdictReactions = (parts: WebhookParts): readonly Reaction[] => [
  reactTo(IdentityWebhook, {
    async apply(tx, message) {
      if (message.provider !== parts.provider.name)
        throw new Malformed(`a delivery of ${message.provider}, which is not configured`)
      const read = parts.provider.parse(message.body)
      if ('fault' in read) throw new Malformed(`${message.provider}: ${read.fault}`)
      const decision = await applyStatement(tx, parts, read.statement)
      if (!('ignored' in decision)) return
      const { eventId } = read.statement
      parts.log.info({ eventId, why: decision.ignored }, 'identity statement ignored')
    },
  }),
]

/** The one function through which a statement changes anything, told or found by asking. */
export async function applyStatement(
  tx: Tx,
  parts: VerdictParts,
  statement: Statement,
): Promise<IdentityDecision> {
  const { log, policy, clock, sweepAfterMs, schedule } = parts
  const provider = parts.provider.name
  const { providerRef } = statement
  const subject = subjectOf(statement)
  const known = subject ? await lockIdentity(tx, subject) : undefined
  const decision = decideIdentity(known, statement, policy)
  if ('ignored' in decision) return decision
  const { wallet, next, flag } = decision
  const verdict = { wallet, next, provider, providerRef, ordered: flag !== null }
  await storeVerdict(tx, verdict, new Date(clock() + sweepAfterMs))
  const standing = { state: next.state, decidedAt: new Date(next.decidedAtMs), linkedAt: null }
  const askedAt = nextCheckAt(standing, schedule, clock())
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
  const cause = `${IdentityDecided.subject}:${flagCause(wallet, revision)}`
  const occurredAt = new Date(statement.occurredAtMs).toISOString()
  await announce(tx, outbox, IdentityDecided, idFor('message', cause), {
    wallet,
    verified,
    occurredAt,
  })
}
