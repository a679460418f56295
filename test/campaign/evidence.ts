import type { Address } from 'viem'
import type { ChainFacts } from './chain-facts'
import type { CampaignDeed } from './record'

export type Entry = { id: string; kind: string; status: string; wallet: Address }
// biome-ignore lint/suspicious/noExplicitAny: the provider's book is read field by field
export type Book = Readonly<Record<string, any[]>>

export type Evidence = {
  readonly deeds: readonly CampaignDeed[]
  readonly book: Book
  readonly chain: ChainFacts
  readonly entries: readonly Entry[]
  readonly treasury: Address
}

export type CampaignVerdict = {
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
