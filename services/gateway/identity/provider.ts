import type { PersonName } from '#shared/messages/identity'
import type { SamePerson } from './person'

/** Verdict of the provider. An unknown verdict is `none`, never an approval. */
export type Word =
  | 'approved'
  /** Our own decision: the provider approves, but another wallet has the person's record. */
  | 'duplicate'
  /** Our own decision: the provider approves, but an operator withdrew the verification. */
  | 'withdrawn'
  | 'rejected'
  /** The user may try again. */
  | 'resubmit'
  /** The provider withdrew its verdict or deleted the user. */
  | 'reset'
  /** The statement has no effect on the verified flag. */
  | 'none'

/** Progress of a verification without a verdict. An unknown status is no progress. */
export type Progress =
  /** The user has to act. */
  | 'unfinished'
  /** The provider is reviewing the documents. */
  | 'submitted'

/** Authentic statement about one user. */
export type Statement = {
  /** Id that is equal for repeats of the same statement. */
  readonly eventId: string
  /** Unix ms by the provider's clock, which order the statements about one user. */
  readonly occurredAtMs: number
  /** Wallet in lower case; null if we did not assign the reference. */
  readonly subjectRef: string | null
  readonly providerRef: string | null
  /** Level or template of the verification; null if not given. */
  readonly level: string | null
  readonly word: Word
  /** Progress, given only together with the word `none`. */
  readonly progress?: Progress
  /** True for the provider's sandbox, which does not count in production; null if not given. */
  readonly sandbox: boolean | null
  /** True for a rejection that the user can retry at no level. */
  readonly isFinal?: true
  /** True if the verdict may be another one now, which only a look-up shows. */
  readonly isToBeAsked?: true
  /** True if the provider deleted the user's data, and so no longer recognises the person. */
  readonly isForgotten?: true
  /** For an approval found by a look-up: the time of the look-up, in unix ms by the provider's clock. */
  readonly standingAtMs?: number
}

export type Undated = Omit<Statement, 'occurredAtMs'>

/** Result of reading a delivery. `fault`: the authentic body contains no known event. */
export type ReadDelivery = { statement: Statement } | { undated: Undated } | { fault: string }

/** Form of the references that we assign, which have no other spelling of a wallet. */
const reference = /^0x[0-9a-f]{40}$/

/**
 * Returns the wallet of a reference, or null for any other text. Other references are not stored: some
 * accounts use e-mail addresses.
 */
export const referenceOf = (value: unknown): `0x${string}` | null =>
  typeof value === 'string' && reference.test(value) ? (value as `0x${string}`) : null

export type Finding =
  /** The newest verdict with its own time, or `none`. */
  | { statement: Statement }
  /** No approval is valid any more; the provider gives no time. */
  | { undated: Undated }
  /** The provider has no user with this reference, or no longer. */
  | { nobody: true }

export type VerificationLink = { readonly url: string; readonly ref: string | null }

/** Returns true if we created the inquiry, as far as we still know. */
export type IsOurs = (wallet: `0x${string}`, ref: string) => Promise<boolean>

export type IdentityProvider = {
  readonly name: 'sumsub' | 'persona'
  /** Verifies the signature of a webhook. The reason is for our log, not for the sender. */
  readonly verify: (body: Uint8Array, headers: Headers, nowMs: number) => { ok: true } | { reason: string }
  /** Parses a webhook. Fields that are null or of an unexpected type count as missing. */
  readonly parse: (body: string) => ReadDelivery
  /** Returns the body with only the fields that `parse` reads. */
  readonly kept: (body: string) => string
  /** True if anyone can open an inquiry under any reference. Only the inquiries that we created then count. */
  readonly hasForeignInquiries: boolean
  /** Time for which a link is returned again, in ms: shorter than its validity. */
  readonly linkFreshMs: number
  /** Creates a verification link. Throws if the provider is down. */
  readonly createLink: (wallet: `0x${string}`) => Promise<VerificationLink>
  /**
   * Looks a user up. `ownRefs` are the inquiries that we created for the user. Throws `ProviderDown` unless
   * the response is clear.
   */
  readonly lookUp: (wallet: `0x${string}`, ownRefs: ReadonlySet<string>) => Promise<Finding>
  /**
   * Finds the person's other wallets. `providerRef` is the approved applicant or inquiry. Throws
   * `ProviderDown` unless the answer is clear.
   */
  readonly findSamePerson: (
    wallet: `0x${string}`,
    providerRef: string,
    isOurs: IsOurs,
  ) => Promise<Exclude<SamePerson, 'unknown'>>
  /**
   * Finds the name of an approved user, as the provider read it from the documents; null if the user is not approved or has
   * no name. `ownRefs` as in `lookUp`. Throws `ProviderDown` unless the answer is clear. The name is never stored or logged.
   */
  readonly findName: (wallet: `0x${string}`, ownRefs: ReadonlySet<string>) => Promise<PersonName | null>
}

/** The provider did not respond, or not as documented. */
export class ProviderDown extends Error {
  override name = 'ProviderDown'
}

const nameLengthMax = 100
const nameIn = (value: unknown): string | null => {
  const text = typeof value === 'string' ? value.trim() : ''
  return text !== '' && text.length <= nameLengthMax ? text : null
}

/** Returns the name of its parts as the provider gives them. A person with one name has it in either part. */
export function personNameOf(given: unknown, last: unknown): PersonName | null {
  const [givenNames, surname] = [nameIn(given), nameIn(last)]
  if (givenNames !== null) return { givenNames, surname }
  return surname === null ? null : { givenNames: surname, surname: null }
}
