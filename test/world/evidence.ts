import type { Address } from 'viem'
import type { SearchedText, Secret } from './audit/leaks'
import type { Noted, Stored } from './audit/messages'
import type { ChainFacts } from './chain-facts'
import type { WorldDeed } from './record'

export type Entry = { id: string; kind: string; status: string; wallet: Address }
// biome-ignore lint/suspicious/noExplicitAny: the provider's book is read field by field
export type Book = Readonly<Record<string, any[]>>

/** A row of the services that is not finished, such as an order, an unpublished message or a hold. */
export type Unfinished = {
  readonly what: string
  readonly state: string
  /** Time of the next check or attempt; null if the row waits for something that has no deadline. */
  readonly dueAt: Date | null
}

/** What the services' database says. It proves nothing right: it names what is left, lost or unbalanced. */
export type DatabaseFacts = {
  readonly unfinished: readonly Unfinished[]
  /** AUSD (10⁻⁶) that each wallet owes for reversed payments, by the services' rows. */
  readonly owed: ReadonlyMap<string, bigint>
  /** Rows of outboxes that are marked published, and the messages in the streams. */
  readonly published: readonly Noted[]
  readonly stored: readonly Stored[]
  /** Differences that the services' own books report. */
  readonly breaks: readonly string[]
}

/** Everything that was written where others may read it, and what may not be in it. */
export type Written = { readonly texts: readonly SearchedText[]; readonly secrets: readonly Secret[] }

/** Everything by which a run is judged. `entries` are the answers to the users, `deeds` what they did and were promised. */
export type Evidence = {
  readonly deeds: readonly WorldDeed[]
  readonly entries: readonly Entry[]
  readonly book: Book
  readonly chain: ChainFacts
  readonly database: DatabaseFacts
  readonly written: Written
  readonly treasury: Address
}

export type Verdict = {
  readonly findings: readonly string[]
  /** Items that are rightly in manual review: a wrong amount, or a reversal after the hold. */
  readonly waiting: readonly { readonly id: string; readonly words: string }[]
  readonly counted: Readonly<Record<string, number>>
  /** AUSD (10⁻⁶) that moved in and out of the treasury. */
  readonly treasuryMovedMicro: bigint
  readonly treasuryExplainedMicro: bigint
}

export type Ledger = {
  find: (sentence: string) => void
  wait: (id: string, words: string) => void
  count: (what: string, by?: number) => void
}
