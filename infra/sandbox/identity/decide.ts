import { type Context, nowText } from '../context'
import { randomHex } from '../ids'
import type { Applicant, IdentityProvider, Standing } from '../records'
import { personaEvent } from './persona-event'
import { sumsubEvent } from './sumsub-event'
import type { Verdict } from './verdict'

/** What a control may bend in the webhook to try the receiver. */
export type Bend = {
  readonly levelName?: string
  readonly sandboxMode?: boolean
  /** Makes the event this much older than now; milliseconds. */
  readonly ageMs?: number
}

/** The provider's record of a wallet, opened on first sight. */
export function applicantOf(
  context: Context,
  provider: IdentityProvider,
  wallet: string,
): Applicant {
  const id = `${provider}:${wallet}`
  const known = context.book.get('applicants', id)
  if (known) return known
  return context.book.save('applicants', {
    id,
    provider,
    wallet,
    providerRef: provider === 'sumsub' ? randomHex(12) : `inq_${randomHex(12)}`,
    verdict: null,
    standing: null,
    updatedAt: nowText(),
  })
}

/**
 * Decides about a wallet and tells the gateway, signed. `null` when the provider has no word for
 * the verdict.
 */
export function decide(
  context: Context,
  provider: IdentityProvider,
  wallet: string,
  verdict: Verdict,
  bend: Bend = {},
): Applicant | null {
  const applicant = applicantOf(context, provider, wallet)
  const atMs = strictlyLaterMs(context) - (bend.ageMs ?? 0)
  const levelName = bend.levelName ?? context.config.identity.level
  const message =
    provider === 'sumsub'
      ? sumsubEvent(applicant, verdict, {
          atMs,
          levelName,
          sandboxMode: bend.sandboxMode ?? true,
        })
      : personaEvent(applicant, verdict, atMs, levelName)
  if (!message) return null
  const decided = context.book.save('applicants', {
    ...applicant,
    verdict,
    standing: standingAfter(
      applicant,
      { verdict, level: levelName, at: new Date(atMs).toISOString() },
      bend,
    ),
    updatedAt: new Date(atMs + (bend.ageMs ?? 0)).toISOString(),
  })
  context.webhooks.send({ source: provider, account: null, ...message })
  return decided
}

/**
 * A delivery made older than it is tells of what has been overtaken, and one of the other
 * environment is about somebody whom this one does not have: neither changes what a look-up says.
 */
function standingAfter({ standing }: Applicant, next: Standing, bend: Bend): Standing | null {
  const isOlder = standing && Date.parse(standing.at) >= Date.parse(next.at)
  return isOlder || bend.sandboxMode === false ? (standing ?? null) : next
}

// Receivers order events by this time, so two of them never share a millisecond.
function strictlyLaterMs({ book }: Context): number {
  const decidedMs = book.all('applicants').map(({ updatedAt }) => Date.parse(updatedAt))
  return decidedMs.reduce((latest, ms) => Math.max(latest, ms + 1), Date.now())
}
