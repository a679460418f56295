import { type Reaction, reactTo } from '#platform/bus/reaction'
import type { Tx } from '#platform/db/open'
import { announce } from '#platform/db/outbox.store'
import { within } from '#platform/deadline'
import { failpoint } from '#platform/failpoint'
import { messageIdFor } from '#shared/ids'
import { IdentityDecided } from '#shared/messages/identity'
import { VerifyOrdered } from '#shared/messages/relay'
import { IdentityWebhook } from '#shared/messages/webhooks'
import type { Context } from '../context'
import { outbox } from '../schema.store'
import { type AnomalyKind, recordAnomaly } from './anomaly.store'
import { readClaims, reportForgotten } from './forgotten'
import {
  decideIdentity,
  type Identity,
  type IdentityDecision,
  isApproval,
  needsAsking,
  nextCheckAt,
  progressIn,
  retryAt,
  scheduleOf,
  subjectOf,
} from './identity'
import { findIdentity, lockIdentity, storeVerdict } from './identity.store'
import { findOwnRefs, findWalletsOfRef, isOwnRef } from './link.store'
import { flagCause, flagOrderId } from './orders'
import type { PersonVerdict, SamePerson } from './person'
import { judgeApproved, recordNamed } from './person.store'
import type { IsOurs, Statement, Word } from './provider'
import { recordProgress, recordVerdict } from './recheck.store'

export const verdictReaction = (context: Context): Reaction =>
  reactTo(IdentityWebhook, {
    async find(message): Promise<Outside> {
      const heard = hear(context, message)
      if (!('statement' in heard)) return { same: 'unknown' }
      const same = await samePersonOf(context, heard.statement)
      return { same, forgotten: await forgottenIn(context, heard.statement) }
    },
    async apply(tx, message, { same, forgotten = [] }) {
      const { provider, deliveryId } = message
      const heard = hear(context, message)
      for (const { wallet, claims } of forgotten)
        await reportForgotten(tx, context, { id: `${deliveryId}:${wallet}`, wallet, claims })
      const found = 'statement' in heard ? await applyHeard(tx, context, heard.statement, same) : heard
      if (!found) return
      const { kind, detail, askAbout } = found
      await recordAnomaly(tx, { deliveryId, kind, provider, detail })
      const level = callsSomebody.has(kind) ? 'alarm' : 'warn'
      context.log[level]({ deliveryId, kind, detail }, 'identity webhook not applied')
      if (!askAbout) return
      const nextCheckAt = new Date(context.clock())
      await recordVerdict(tx, { wallet: askAbout, provider, nextCheckAt })
    },
  })

/** Answers of other services and of the provider, fetched before the transaction. */
type Outside = { readonly same: SamePerson; readonly forgotten?: readonly Forgotten[] }
type Forgotten = { readonly wallet: `0x${string}`; readonly claims: readonly string[] }

/** Returns the wallets whose holder the provider forgot, with the claims on them. Only verified wallets can borrow. */
async function forgottenIn(context: Context, { isForgotten, subjectRef, providerRef }: Statement) {
  if (!isForgotten) return []
  const { database } = context
  const subject = subjectOf({ subjectRef })
  // The reference may be deleted, too.
  const wallets = subject ? [subject] : await database.read((db) => findWalletsOfRef(db, providerRef))
  const held = await Promise.all(wallets.map((wallet) => database.read((db) => findIdentity(db, wallet))))
  const verified = held.flatMap((row) => (row?.firstVerifiedAt ? [row.wallet] : []))
  return Promise.all(verified.map(async (wallet) => ({ wallet, claims: await knownClaims(context, wallet) })))
}

/** Returns the claims on the holder of a wallet. Those that cannot be read now count, because the verdict must not wait. */
const knownClaims = (context: Context, wallet: `0x${string}`): Promise<string[]> =>
  readClaims(context, wallet).catch((err) => {
    context.log.warn({ wallet, err }, 'claims on a deleted user could not be read')
    return ['the credit line could not be read: look whether the wallet owes or has defaulted']
  })

/** Reason for which a delivery is not applied. A retry would give the same result. */
type Anomaly = {
  kind: AnomalyKind
  detail: string
  /** Wallet to recheck at once, because the provider can supply the missing part. */
  askAbout?: `0x${string}` | undefined
}

/** Anomalies that raise an alert. The others are followed by a recheck, or the user is not ours. */
const callsSomebody: ReadonlySet<AnomalyKind> = new Set(['unreadable', 'other_provider'])

/** Maximum time by which a statement may be ahead of our clock, in ms. A later time counts as missing. */
const aheadMaxMs = 86_400_000

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
  // The statement is against the user, so it counts from the latest possible time.
  return { statement: { ...undated, occurredAtMs: receivedAtMs } }
}

async function applyHeard(
  tx: Tx,
  context: Context,
  statement: Statement,
  same: SamePerson,
): Promise<Anomaly | undefined> {
  const decision = await applyStatement(tx, context, statement, same)
  if (!('ignored' in decision)) return
  const { eventId, word } = statement
  if (decision.ignored === 'person unknown') {
    const nextCheckAt = retryAt(0, scheduleOf(context.config), context.clock())
    const wallet = subjectOf(statement)!
    await recordVerdict(tx, { wallet, provider: context.provider.name, nextCheckAt })
  }
  context.log.info({ eventId, why: decision.ignored }, 'identity statement ignored')
  const subject = subjectOf(statement)
  if (statement.isToBeAsked && subject) {
    const due = { wallet: subject, provider: context.provider.name, nextCheckAt: new Date(context.clock()) }
    await recordVerdict(tx, due)
  }
  if (decision.ignored === 'unknown inquiry' && word !== 'none')
    return { kind: 'inquiry_unknown', detail: `${word}, by an inquiry that we did not create` }
  if (decision.ignored === 'unknown subject') return { kind: 'subject_unknown', detail: `${word}, for an unknown user` }
  const isIncomplete = decision.ignored === 'other level' || decision.ignored === 'other environment'
  if (!isIncomplete || !needsAsking(statement)) return
  const detail = 'an approval without a level or environment'
  return { kind: 'incomplete', detail, askAbout: subjectOf(statement) }
}

/** Deadline of all calls about a person, in ms, which leaves time to apply the message. */
const personDeadlineMs = 6_000

/** Returns the person's other wallets, or `unknown` without a clear answer. */
export async function samePersonOf(
  { database, provider, log }: Pick<Context, 'database' | 'provider' | 'log'>,
  { word, providerRef, subjectRef }: Statement,
): Promise<SamePerson> {
  const wallet = subjectOf({ subjectRef })
  if (word !== 'approved' || !wallet || !providerRef) return 'unknown'
  const isOurs: IsOurs = (other, ref) =>
    database.read((db) => isOwnRef(db, { wallet: other, provider: provider.name, ref }))
  const asked = provider.findSamePerson(wallet, providerRef, isOurs)
  return within(asked, personDeadlineMs, 'the identity provider').catch((err) => {
    log.warn({ wallet, err }, 'person of an approval unknown, will ask again')
    return 'unknown'
  })
}

/** Applies a statement; all changes of identities go through here. While `same` is unknown, an approval waits. */
export async function applyStatement(
  tx: Tx,
  context: Context,
  heard: Statement,
  same: SamePerson,
  provider: string = context.provider.name,
): Promise<IdentityDecision> {
  const { config, clock, log } = context
  const { providerRef } = heard
  const subject = subjectOf(heard)
  const known = subject ? await lockIdentity(tx, subject) : undefined
  if (subject && (await isForeign(tx, context, subject, providerRef))) return { ignored: 'unknown inquiry' }
  const policy = {
    level: config.identityLevel,
    environment: config.deployment === 'live' ? 'production' : 'sandbox',
  } as const
  const person =
    subject && heard.word === 'approved' ? await judgeApproved(tx, subject, same) : ({ alone: true } as const)
  const sameAs = person !== 'unknown' && 'sameAs' in person ? person.sameAs : null
  const statement: Statement = { ...heard, word: wordOf(heard, person) }
  const decided = decideIdentity(known, statement, policy)
  const isWaiting = person === 'unknown' && 'next' in decided
  const decision: IdentityDecision = isWaiting ? { ignored: 'person unknown' } : decided
  const progressed = progressIn(isWaiting ? waiting(heard) : heard, policy)
  if (progressed) {
    const nextCheckAt = new Date(clock() + config.identityRecheckOpenMs)
    await recordProgress(tx, { ...progressed, provider, nextCheckAt })
  }
  if ('ignored' in decision) {
    if (subject && heard.word === 'approved') await recordNamed(tx, subject, same)
    return decision
  }
  const { wallet, next, flag } = decision
  const verdict = { wallet, next, provider, providerRef, sameAs, ordered: flag !== null }
  await storeVerdict(tx, verdict, new Date(clock() + config.recheckAfterMs))
  if (heard.word === 'approved') await recordNamed(tx, wallet, same)
  const standing = { state: next.state, decidedAt: new Date(next.decidedAtMs), linkedAt: null }
  const askedAt = nextCheckAt(standing, scheduleOf(config), clock())
  await recordVerdict(tx, { wallet, provider, nextCheckAt: askedAt })
  if (flag !== null) await announceFlag(tx, { wallet, verified: flag, next })
  log.info({ wallet, state: next.state, flag }, 'identity decided')
  failpoint('gateway:identity-decided')
  return decision
}

function wordOf({ word }: Statement, person: PersonVerdict): Word {
  if (person === 'unknown' || 'alone' in person) return word
  return 'sameAs' in person ? 'duplicate' : 'withdrawn'
}

/**
 * Applies the decision of an operator against a wallet to its standing approval, without asking the provider: a decision must
 * not wait until the provider can be asked.
 */
export async function reapply(tx: Tx, context: Context, wallet: `0x${string}`): Promise<void> {
  const known = await findIdentity(tx, wallet)
  // guard: a decision against a wallet takes effect at once
  if (!known || !isApproval(known.state)) return
  const { deployment, identityLevel: level } = context.config
  const approval: Statement = {
    eventId: `decision:${wallet}`,
    occurredAtMs: known.decidedAt.getTime(),
    subjectRef: wallet,
    providerRef: known.providerRef,
    level,
    word: 'approved',
    sandbox: deployment !== 'live',
  }
  // The approval may be of an earlier provider, which the present one does not know.
  await applyStatement(tx, context, approval, 'unknown', known.provider)
}

/** Returns the statement that a user sees while the person of an approval is unknown: the approval is in review. */
const waiting = (approval: Statement): Statement => ({
  ...approval,
  word: 'none',
  progress: 'submitted',
})

/** Returns true if we did not create the inquiry: anyone may then have opened it for this wallet. */
async function isForeign(tx: Tx, { provider }: Context, wallet: `0x${string}`, ref: string | null): Promise<boolean> {
  if (!provider.hasForeignInquiries) return false
  return ref === null || !(await findOwnRefs(tx, wallet)).has(ref)
}

async function announceFlag(
  tx: Tx,
  { wallet, verified, next }: { wallet: `0x${string}`; verified: boolean; next: Identity },
) {
  const revision = next.revision!
  const order = { wallet, verified, revision: String(revision) }
  announce(tx, outbox, VerifyOrdered, flagOrderId(wallet, revision), order)
  const occurredAt = new Date(next.decidedAtMs).toISOString()
  announce(tx, outbox, IdentityDecided, messageIdFor(IdentityDecided, flagCause(wallet, revision)), {
    wallet,
    verified,
    occurredAt,
  })
}
