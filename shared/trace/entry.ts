/** Who says so: a service, by its rows; the bus; the chain or the provider, as they were last read. */
export type Where =
  | 'gateway'
  | 'pricing'
  | 'payments'
  | 'payouts'
  | 'chain-relayer'
  | 'bus'
  | 'chain'
  | 'provider'
  | 'books'
  | 'operators'

/** One thing that happened, or that is awaited. */
export type Entry = {
  /** Null: nobody wrote down when. */
  readonly at: Date | null
  readonly where: Where
  /** What of it this is, in a word: `row`, `order`, `attempt`, `delivery`. */
  readonly what: string
  readonly id: string
  readonly says: string
  /** A person should look at it. */
  readonly isOdd?: boolean
}

/** What somebody was promised, or the wallet that was asked for, as it is now. */
export type Item = {
  readonly kind: string
  readonly id: string
  readonly wallet: string
  readonly state: string
  readonly reason: string | null
  readonly createdAt: Date | null
  /** More of it, by name, for a person; amounts in smallest units. */
  readonly facts: Readonly<Record<string, string>>
}

/** Everything that could be found out about an id. */
export type Trace = {
  readonly id: string
  readonly items: readonly Item[]
  /** Oldest first; what has no time comes last. */
  readonly entries: readonly Entry[]
  /** What could not be looked at, and why: nothing is said of it. */
  readonly unseen: readonly { readonly what: string; readonly why: string }[]
}

/** What one reader found; `unseen`: why it is not all. */
export type Part = {
  readonly items?: readonly Item[]
  readonly entries?: readonly Entry[]
  readonly unseen?: string | undefined
}

/** What an id led to: rows by their own ids. */
export type Roots = {
  readonly payments: readonly string[]
  readonly cashouts: readonly string[]
  /** Operations of the relayer that belong to neither: sends, verdicts, drips, freezes, givebacks. */
  readonly operations: readonly string[]
  /** Asked for by a wallet: all of it, in short. */
  readonly wallets: readonly string[]
  /** The id itself, where the books or operators may know it by. */
  readonly others: readonly string[]
}
