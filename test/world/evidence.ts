import type { Address } from 'viem'
import type { Noted, Stored } from './audit/messages'
import type { ChainFacts } from './chain-facts'
import type { WorldDeed } from './record'

export type Entry = {
  id: string
  kind: string
  status: string
  reason?: string
  wallet: Address
  ausd?: string
  txHash?: string
}
// biome-ignore lint/suspicious/noExplicitAny: the provider's book is read field by field
export type Book = Readonly<Record<string, any[]>>

/** A row of the services that is not finished, such as an order, an unpublished message or a hold. */
export type Unfinished = {
  readonly what: string
  readonly state: string
  /** Time of the next check or attempt; null if the row waits for something that has no deadline. */
  readonly dueAt: Date | null
}

/** Facts of the services' database. They prove no outcome: they name unfinished rows, lost messages and differences. */
export type DatabaseFacts = {
  readonly unfinished: readonly Unfinished[]
  /** AUSD (10⁻⁶) that each wallet owes for reversed payments by the services' rows; negative if it repaid more than was lost. */
  readonly owed: ReadonlyMap<string, bigint>
  /** The provider's id of the payment that each checkout counts. Of two equal ones, the services choose. */
  readonly counted: ReadonlyMap<string, string>
  /** Rows of outboxes that are marked published, and the messages in the streams. */
  readonly published: readonly Noted[]
  readonly stored: readonly Stored[]
  /** Differences that the services' own books report. */
  readonly breaks: readonly string[]
}

export type Secret = { readonly name: string; readonly text: string }
export type SearchedText = { readonly where: string; readonly text: string }

/** All texts that others may read, and the secrets that may not be in them. */
export type Written = { readonly texts: readonly SearchedText[]; readonly secrets: readonly Secret[] }

/** A time in which no fault was in progress and each process was ready, in unix ms. */
export type Calm = { readonly fromMs: number; readonly toMs: number }

/** The calm of a run whose faults are few enough that each is survived at once. */
export const alwaysCalm: readonly Calm[] = [{ fromMs: 0, toMs: Number.POSITIVE_INFINITY }]

/** All evidence of a run. `entries` are the users' activity, `deeds` their requests with the promises that they got. */
export type Evidence = {
  readonly calms: readonly Calm[]
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
  /** Findings whose time is known, in unix ms. */
  readonly moments: readonly { readonly finding: string; readonly atMs: number }[]
  /** Items that are rightly in manual review: a wrong amount, or a reversal after the hold. */
  readonly waiting: readonly { readonly id: string; readonly words: string }[]
  readonly counted: Readonly<Record<string, number>>
  /** AUSD (10⁻⁶) that moved in and out of the treasury. */
  readonly treasuryMovedMicro: bigint
  readonly treasuryExplainedMicro: bigint
}

export type Ledger = {
  /** Notes a finding. `atMs` is its time in unix ms, if it has one. */
  find: (sentence: string, atMs?: number) => void
  wait: (id: string, words: string) => void
  count: (what: string, by?: number) => void
}
