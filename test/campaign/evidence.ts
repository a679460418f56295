import type { Address } from 'viem'
import type { ChainFacts } from './chain-facts'
import type { Deed } from './record'

/** An entry of somebody's activity, as the service tells it. */
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

/** What is wrong, each in a sentence that names it; and how much was looked at. */
export type Verdict = {
  readonly findings: readonly string[]
  /** What waits for a person, as it should: money whose amount is wrong, or that went back too late. */
  readonly waiting: readonly { readonly id: string; readonly words: string }[]
  readonly counted: Readonly<Record<string, number>>
  /** 10⁻⁶ AUSD in and out of the treasury, and how much of it belongs to an item. */
  readonly treasuryMovedMicro: bigint
  readonly treasuryExplainedMicro: bigint
}

/** Where the parts of an audit say what they found. */
export type Ledger = {
  find: (sentence: string) => void
  wait: (id: string, words: string) => void
  count: (what: string, by?: number) => void
}
