import { type Reaction, reactTo } from '#shared/bus/reaction'
import type { Tx } from '#shared/db/open'
import { announce } from '#shared/db/outbox.store'
import { failpoint } from '#shared/failpoint'
import { messageIdFor } from '#shared/ids'
import { IdentityDecided } from '#shared/messages/identity'
import { VerifyOrdered } from '#shared/messages/relay'
import { IdentityWebhook } from '#shared/messages/webhooks'
import type { Context } from '../context'
import { outbox } from '../schema.store'
import { type AnomalyKind, recordAnomaly } from './anomaly.store'
import {
  decideIdentity,
  type IdentityDecision,
  needsAsking,
  nextCheckAt,
  progressIn,
  scheduleOf,
  subjectOf,
} from './identity'
import { lockIdentity, storeVerdict } from './identity.store'
import { flagCause, flagOrderId } from './orders'
import type { Statement } from './provider'
import { noteProgress, noteVerdict } from './recheck.store'

/** A delivery of the identity provider moves the person's row and orders the flag on the chain. */
export const webhookReaction = (context: Context): Reaction =>
  reactTo(IdentityWebhook, {
    async apply(tx, message) {
      const { provider, deliveryId } = message
      const heard = hear(context, message)
      const found = 'statement' in heard ? await applyHeard(tx, context, heard.statement) : heard
      if (!found) return
      const { kind, detail, askAbout } = found
      await recordAnomaly(tx, { deliveryId, kind, provider, detail })
      const alarm = callsSomebody.has(kind)
      context.log[alarm ? 'error' : 'warn'](
        { deliveryId, kind, detail, ...(alarm && { alarm }) },
        'identity delivery not understood',
      )
      if (!askAbout) return
      const nextCheckAt = new Date(context.clock())
      await noteVerdict(tx, { wallet: askAbout, provider, nextCheckAt })
    },
  })

/** A delivery that cannot be decided is for a person, never for another try: it would say the same. */
type Anomaly = {
  kind: AnomalyKind
  detail: string
  /** Somebody the provider is asked about at once, because it can say what the delivery does not. */
  askAbout?: `0x${string}` | undefined
}

/** The others explain themselves: the provider was asked, or it is about nobody of ours. */
const callsSomebody: ReadonlySet<AnomalyKind> = new Set(['unreadable', 'other_provider'])

/** No clock of a provider is ahead of ours by more: a time beyond that is no time. */
const aheadMaxMs = 86_400_000

/** What a delivery says, with the time that it counts from. */
function hear(
  { provider }: Context,
  message: { provider: string; receivedAt: string; body: string },
): { statement: Statement } | Anomaly {
  if (message.provider !== provider.name)
    return { kind: 'other_provider', detail: `${message.provider} is not configured` }
  const read = provider.parse(message.body)
  if ('fault' in read) return { kind: 'unreadable', detail: read.fault }
  const receivedAtMs = Date.parse(message.receivedAt)
  if ('statement' in read && read.statement.occurredAtMs <= receivedAtMs + aheadMaxMs) return read
  const undated = 'undated' in read ? read.undated : read.statement
  if (undated.word === 'approved')
    return {
      kind: 'incomplete',
      detail: 'an approval without a time',
      askAbout: subjectOf(undated),
    }
  // Against the person: it counts from the last moment at which it can have been said.
  return { statement: { ...undated, occurredAtMs: receivedAtMs } }
}

/** Applies what was heard; an anomaly when it is a verdict that nothing can be done with. */
async function applyHeard(
  tx: Tx,
  context: Context,
  statement: Statement,
): Promise<Anomaly | undefined> {
  const decision = await applyStatement(tx, context, statement)
  if (!('ignored' in decision)) return
  const { eventId, word } = statement
  context.log.info({ eventId, why: decision.ignored }, 'identity statement ignored')
  if (decision.ignored === 'unknown subject')
    return { kind: 'subject_unknown', detail: `${word}, of nobody we know` }
  const isIncomplete =
    decision.ignored === 'other level' || decision.ignored === 'other environment'
  if (!isIncomplete || !needsAsking(statement)) return
  const detail = 'an approval that does not say of which level it is, or where it was given'
  return { kind: 'incomplete', detail, askAbout: subjectOf(statement) }
}

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
  const policy = { level: config.identityLevel, environment: config.identityEnvironment }
  const decision = decideIdentity(known, statement, policy)
  const progressed = progressIn(statement, policy)
  if (progressed) {
    const nextCheckAt = new Date(clock() + config.identityRecheckOpenMs)
    await noteProgress(tx, { ...progressed, provider, nextCheckAt })
  }
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
