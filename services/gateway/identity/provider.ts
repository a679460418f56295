/** What a provider's word means to us. A word we have never seen is `none`, never an approval. */
export type Word =
  | 'approved'
  /** Refused for good. */
  | 'rejected'
  /** Refused for now: the person may try again. */
  | 'resubmit'
  /** The provider took its own verdict back, or deleted the person. */
  | 'reset'
  /** Nothing that moves the verified flag. */
  | 'none'

/** How far a person is, of whom nothing was decided yet. A word we have never seen says nothing. */
export type Progress =
  /** It is the person's turn: to begin, to go on, or to begin again. */
  | 'unfinished'
  /** All is handed in, and it is the provider's turn. */
  | 'submitted'

/** An authentic statement of the provider about one person. */
export type Statement = {
  /** The same statement, sent again, has the same id. */
  readonly eventId: string
  /** Unix ms by the provider's clock: orders the statements about one person. */
  readonly occurredAtMs: number
  /** Our own reference, the lower-case wallet; null when it names none that we gave. */
  readonly subjectRef: string | null
  readonly providerRef: string | null
  /** The verification level or template the statement is about; null when it names none. */
  readonly level: string | null
  readonly word: Word
  /** Only beside the word `none`. */
  readonly progress?: Progress
  /** Made in the provider's sandbox: worth nothing in production. Null when it does not say. */
  readonly sandbox: boolean | null
}

/** What is known when the provider says a word and not when. */
export type Undated = Omit<Statement, 'occurredAtMs'>

/** What an authentic body says; a fault means that it has none of what we know. */
export type Reading = { statement: Statement } | { undated: Undated } | { fault: string }

/** The canonical form alone: another spelling of a wallet is not a reference we ever gave. */
const reference = /^0x[0-9a-f]{40}$/

/**
 * A reference as it came, if it may be one of ours. Any other is null, also in what is kept: some
 * accounts have an e-mail address there.
 */
export const referenceOf = (value: unknown): `0x${string}` | null =>
  typeof value === 'string' && reference.test(value) ? (value as `0x${string}`) : null

/** What the provider says of a person when it is asked. */
export type Finding =
  /** The newest verdict with its own time, or `none` while there is none. */
  | { statement: Statement }
  /** No approval stands any more, and the provider does not say since when. */
  | { undated: Undated }
  /** Nobody is known under this reference, or nobody any longer. */
  | { nobody: true }

/** The port to a provider of identity verification; every adapter passes one contract test. */
export type IdentityProvider = {
  readonly name: 'sumsub' | 'persona'
  /** Is this body, byte for byte, the provider's? The reason is for our log, not for the sender. */
  readonly verify: (
    body: Uint8Array,
    headers: Headers,
    nowMs: number,
  ) => { ok: true } | { reason: string }
  /** Reads an authentic body. What is null or of another type than we know counts as not there. */
  readonly parse: (body: string) => Reading
  /**
   * What may be stored of an authentic body, by a list of what we read: `parse` reads the same from
   * it, and no more is in it.
   */
  readonly kept: (body: string) => string
  /** A hosted page where the person behind the wallet can be verified. Throws when it is down. */
  readonly createLink: (wallet: `0x${string}`) => Promise<string>
  /** Asks about one person; throws `ProviderDown` on every answer that is not plainly a finding. */
  readonly lookUp: (wallet: `0x${string}`) => Promise<Finding>
}

/** The provider does not answer, or not as it should. */
export class ProviderDown extends Error {
  override name = 'ProviderDown'
}
