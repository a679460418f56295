import type { SamePerson } from './person'

/** An unknown verdict is `none`, never an approval. */
export type Word =
  | 'approved'
  /** Our own decision: approved, but another wallet has the person's record. */
  | 'duplicate'
  | 'rejected'
  /** The user may try again. */
  | 'resubmit'
  /** The provider withdrew its verdict or deleted the user. */
  | 'reset'
  /** No effect on the verified flag. */
  | 'none'

/** Without a verdict. An unknown status is no progress. */
export type Progress =
  /** The user has to act. */
  | 'unfinished'
  /** The provider reviews it. */
  | 'submitted'

/** Authentic, and about one user. */
export type Statement = {
  /** Equal for repeats of the same statement. */
  readonly eventId: string
  /** Unix ms by the provider's clock; orders the statements about one user. */
  readonly occurredAtMs: number
  /** The lower-case wallet; null if we did not assign the reference. */
  readonly subjectRef: string | null
  readonly providerRef: string | null
  /** Level or template. */
  readonly level: string | null
  readonly word: Word
  /** Only together with the word `none`. */
  readonly progress?: Progress
  /** The provider's sandbox does not count in production; null if not given. */
  readonly sandbox: boolean | null
}

export type Undated = Omit<Statement, 'occurredAtMs'>

/** A fault: no known event in the authentic body. */
export type ReadDelivery = { statement: Statement } | { undated: Undated } | { fault: string }

/** We assign no other spelling of a wallet. */
const reference = /^0x[0-9a-f]{40}$/

/** Null for all others, which are not stored: some accounts use e-mail addresses. */
export const referenceOf = (value: unknown): `0x${string}` | null =>
  typeof value === 'string' && reference.test(value) ? (value as `0x${string}`) : null

export type Finding =
  /** The newest verdict with its own time, or `none`. */
  | { statement: Statement }
  /** No approval stands any more; the provider gives no time. */
  | { undated: Undated }
  /** No user with this reference, or no longer. */
  | { nobody: true }

export type VerificationLink = { readonly url: string; readonly ref: string | null }

/** Whether we created the inquiry, as far as we still know. */
export type IsOurs = (wallet: `0x${string}`, ref: string) => Promise<boolean>

export type IdentityProvider = {
  readonly name: 'sumsub' | 'persona'
  /** The reason is for our log, not for the sender. */
  readonly verify: (body: Uint8Array, headers: Headers, nowMs: number) => { ok: true } | { reason: string }
  /** Fields that are null or of an unexpected type count as missing. */
  readonly parse: (body: string) => ReadDelivery
  /** Keeps only the fields that `parse` reads. */
  readonly kept: (body: string) => string
  /** Anyone can open an inquiry under any reference, so only those count that we created. */
  readonly hasForeignInquiries: boolean
  /** How long a link is given again; less than it is valid. */
  readonly linkFreshMs: number
  /** Throws if the provider is down. */
  readonly createLink: (wallet: `0x${string}`) => Promise<VerificationLink>
  /** `ownRefs`: inquiries that we created for the user. Throws `ProviderDown` unless the response is clear. */
  readonly lookUp: (wallet: `0x${string}`, ownRefs: ReadonlySet<string>) => Promise<Finding>
  /** `providerRef`: the approved applicant or inquiry. Throws `ProviderDown` unless the answer is clear. */
  readonly findSamePerson: (
    wallet: `0x${string}`,
    providerRef: string,
    isOurs: IsOurs,
  ) => Promise<Exclude<SamePerson, 'unknown'>>
}

/** No response, or not as documented. */
export class ProviderDown extends Error {
  override name = 'ProviderDown'
}
