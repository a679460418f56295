import { nowMs, nowText, type SandboxContext } from '../context'
import { randomIds } from '../random'
import type { Applicant, IdentityProvider, VendorVerdict } from '../records'
import { personaEvent } from './persona-event'
import { sumsubEvent } from './sumsub-event'
import type { Verdict } from './verdict'

export type Bend = {
  readonly levelName?: string
  readonly sandboxMode?: boolean
  readonly ageMs?: number
  /** Key that all applicants of one person share. */
  readonly person?: string
}

export function applicantOf(context: SandboxContext, provider: IdentityProvider, wallet: string): Applicant {
  const id = `${provider}:${wallet}`
  const known = context.book.get('applicants', id)
  if (known) return known
  return context.book.save('applicants', {
    id,
    provider,
    wallet,
    providerRef: provider === 'sumsub' ? randomIds.hex(12) : `inq_${randomIds.hex(12)}`,
    person: null,
    verdict: null,
    standing: null,
    updatedAt: nowText(context),
  })
}

/** Records a verdict and sends the signed webhook. Returns null if the provider has no such verdict. */
export function decide(
  context: SandboxContext,
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
    person: bend.person ?? applicant.person,
    verdict,
    standing: standingAfter(applicant, { verdict, level: levelName, at: new Date(atMs).toISOString() }, bend),
    updatedAt: new Date(atMs + (bend.ageMs ?? 0)).toISOString(),
  })
  context.webhooks.send({ source: provider, account: null, ...message })
  return decided
}

/** Returns the person's other applicants, only decided ones, as at the provider. */
export function samePerson({ book }: SandboxContext, applicant: Applicant): Applicant[] {
  const { id, person, provider } = applicant
  if (person === null) return []
  return book
    .all('applicants')
    .filter((one) => one.provider === provider && one.person === person && one.id !== id)
    .filter(({ standing }) => decidedWith.has(standing?.verdict ?? ''))
}
const decidedWith: ReadonlySet<string> = new Set(['approved', 'rejected', 'retry', 'deactivated'])

function standingAfter({ standing }: Applicant, next: VendorVerdict, bend: Bend): VendorVerdict | null {
  const isOlder = standing && Date.parse(standing.at) >= Date.parse(next.at)
  if (isOlder || bend.sandboxMode === false) return standing ?? null
  if (next.verdict === 'deactivated') return { ...next, suspended: standing?.suspended ?? standing }
  if (next.verdict === 'activated') return standing?.suspended ?? standing
  return next
}

// Returns a time later than every earlier decision, because receivers order events by it.
function strictlyLaterMs(context: SandboxContext): number {
  const decidedMs = context.book.all('applicants').map(({ updatedAt }) => Date.parse(updatedAt))
  return decidedMs.reduce((latest, ms) => Math.max(latest, ms + 1), nowMs(context))
}
