import type { Address } from 'viem'
import type { ChainFacts } from './chain-facts'
import type { Deed } from './record'

/** Entry of a user's activity, as the service returns it. */
export type Entry = { id: string; kind: string; status: string; wallet: Address }
// biome-ignore lint/suspicious/noExplicitAny: the provider's book is read field by field
export type Book = Readonly<Record<string, any[]>>

export type Evidence = {
  readonly deeds: readonly Deed[]
  readonly book: Book
  readonly chain: ChainFacts
  readonly entries: readonly Entry[]
  readonly treasury: Address
}

/** Result of the audit: one sentence for each finding, and the number of items checked. */
export type Verdict = {
  readonly findings: readonly string[]
  /** Items rightly in manual review: a wrong amount, or a reversal after the hold. */
  readonly waiting: readonly { readonly id: string; readonly words: string }[]
  readonly counted: Readonly<Record<string, number>>
  /** 10⁻⁶ AUSD moved in and out of the treasury, and the part that belongs to an item. */
  readonly treasuryMovedMicro: bigint
  readonly treasuryExplainedMicro: bigint
}

/** Collects the results of the parts of an audit. */
export type Ledger = {
  find: (sentence: string) => void
  wait: (id: string, words: string) => void
  count: (what: string, by?: number) => void
}
