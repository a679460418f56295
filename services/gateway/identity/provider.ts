import type { SamePerson } from './person'

/** A provider's verdict in our terms. An unknown verdict is `none`, never an approval. */
export type Word =
  | 'approved'
  /** Approved, but the person's record is that of another wallet. Our own decision, not the provider's. */
  | 'duplicate'
  /** Refused permanently. */
  | 'rejected'
  /** Refused for now; the user may try again. */
  | 'resubmit'
  /** The provider withdrew its verdict or deleted the user. */
  | 'reset'
  /** No effect on the verified flag. */
  | 'none'

/** Progress of a verification without a verdict. An unknown status is no progress. */
export type Progress =
  /** The user has to begin, continue, or begin again. */
  | 'unfinished'
  /** Everything is submitted; the provider reviews it. */
  | 'submitted'

/** An authentic statement of the provider about one user. */
export type Statement = {
  /** Equal for repeats of the same statement. */
  readonly eventId: string
  /** Unix ms by the provider's clock; orders the statements about one user. */
  readonly occurredAtMs: number
  /** Our own reference, the lower-case wallet; null if it has none that we assigned. */
  readonly subjectRef: string | null
  readonly providerRef: string | null
  /** Verification level or template; null if not given. */
  readonly level: string | null
  readonly word: Word
  /** Only together with the word `none`. */
  readonly progress?: Progress
  /** True if made in the provider's sandbox, which does not count in production; null if not given. */
  readonly sandbox: boolean | null
}

/** A statement for which the provider gave no time. */
export type Undated = Omit<Statement, 'occurredAtMs'>

/** Result of parsing an authentic body; a fault if no known event is in it. */
export type Reading = { statement: Statement } | { undated: Undated } | { fault: string }

/** Our references have only this form; another spelling of a wallet was not assigned by us. */
const reference = /^0x[0-9a-f]{40}$/

/**
 * Returns a reference if it can be one of ours, otherwise null. Others are not stored either, because
 * some accounts use e-mail addresses.
 */
export const referenceOf = (value: unknown): `0x${string}` | null =>
  typeof value === 'string' && reference.test(value) ? (value as `0x${string}`) : null

/** Result of looking up a user at the provider. */
export type Finding =
  /** The newest verdict with its own time, or `none` without a verdict. */
  | { statement: Statement }
  /** No approval stands any more; the provider gives no time. */
  | { undated: Undated }
  /** The provider has no user with this reference, or no longer has one. */
  | { nobody: true }

/** A hosted page, and the provider's id of the inquiry behind it, if it has one. */
export type VerificationLink = { readonly url: string; readonly ref: string | null }

/** Returns whether we created an inquiry for a wallet, as far as we still know. */
export type IsOurs = (wallet: `0x${string}`, ref: string) => Promise<boolean>

/** Port to an identity provider; every adapter passes the same contract test. */
export type IdentityProvider = {
  readonly name: 'sumsub' | 'persona'
  /** Verifies the signature of a raw body. The reason is for our log, not for the sender. */
  readonly verify: (
    body: Uint8Array,
    headers: Headers,
    nowMs: number,
  ) => { ok: true } | { reason: string }
  /** Parses an authentic body. Fields that are null or of an unexpected type count as missing. */
  readonly parse: (body: string) => Reading
  /** Reduces an authentic body to the fields that `parse` reads, so that nothing else is stored. */
  readonly kept: (body: string) => string
  /**
   * True if anyone can open an inquiry under any reference there, so that only those count whose id we got
   * when we created them.
   */
  readonly hasForeignInquiries: boolean
  /** How long a link may be given again instead of a new one; less than it is valid. */
  readonly linkFreshMs: number
  /** Creates a hosted verification page for the wallet. Throws if the provider is down. */
  readonly createLink: (wallet: `0x${string}`) => Promise<VerificationLink>
  /**
   * Looks up one user; `ownRefs` are the inquiries that we created for it. Throws `ProviderDown` unless the
   * response is clearly a finding.
   */
  readonly lookUp: (wallet: `0x${string}`, ownRefs: ReadonlySet<string>) => Promise<Finding>
  /**
   * Finds the other wallets that the provider has as the same person; `providerRef` is the approved
   * applicant or inquiry. With foreign inquiries, only those that are ours count. Throws `ProviderDown`
   * unless the answer is clear.
   */
  readonly findSamePerson: (
    wallet: `0x${string}`,
    providerRef: string,
    isOurs: IsOurs,
  ) => Promise<Exclude<SamePerson, 'unknown'>>
}

/** Thrown if the provider does not respond, or not as documented. */
export class ProviderDown extends Error {
  override name = 'ProviderDown'
}
