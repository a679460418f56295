/** Source of an entry: a service's rows, the bus, or the chain or provider as last read. */
export type TimelineSource =
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

/** One event, past or expected. */
export type TimelineEntry = {
  /** Null: time not recorded. */
  readonly at: Date | null
  readonly where: TimelineSource
  /** Kind of entry: `row`, `order`, `attempt`, `delivery`. */
  readonly what: string
  readonly id: string
  readonly says: string
  /** Whether it deserves a closer look. */
  readonly isOdd?: boolean
}

/** A traced item or wallet in its current state. */
export type TracedItem = {
  readonly kind: string
  readonly id: string
  readonly wallet: string
  readonly state: string
  readonly reason: string | null
  readonly createdAt: Date | null
  /** Further fields by name, as text. */
  readonly facts: Readonly<Record<string, string>>
}

/** Everything known about an id. */
export type Trace = {
  readonly id: string
  readonly items: readonly TracedItem[]
  /** Oldest first; entries without a time come last. */
  readonly entries: readonly TimelineEntry[]
  /** Sources that could not be read, and why. */
  readonly unseen: readonly { readonly what: string; readonly why: string }[]
}

/** Result of one reader. `unseen`: why it is incomplete. */
export type TimelinePart = {
  readonly items?: readonly TracedItem[]
  readonly entries?: readonly TimelineEntry[]
  readonly unseen?: string | undefined
}

/** Rows that an id leads to, by their own ids. */
export type Roots = {
  readonly payments: readonly string[]
  readonly cashouts: readonly string[]
  /** Relayer operations of neither: sends, verifications, drips, freezes, returned deposits. */
  readonly operations: readonly string[]
  /** The wallet, if the id is one. */
  readonly wallets: readonly string[]
  /** The id itself, and other names of it in the books and operator commands. */
  readonly others: readonly string[]
}
