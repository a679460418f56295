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

export type TimelineEntry = {
  /** Null if the time was not recorded. */
  readonly at: Date | null
  readonly where: TimelineSource
  readonly what: string
  readonly id: string
  readonly says: string
  /** True if the entry deserves a closer look. */
  readonly isOdd?: boolean
}

export type TracedItem = {
  readonly kind: string
  readonly id: string
  readonly wallet: string
  readonly state: string
  readonly reason: string | null
  readonly createdAt: Date | null
  readonly facts: Readonly<Record<string, string>>
}

export type Trace = {
  readonly id: string
  readonly items: readonly TracedItem[]
  /** Entries, oldest first; those without a time come last. */
  readonly entries: readonly TimelineEntry[]
  readonly unseen: readonly { readonly what: string; readonly why: string }[]
}

/** Contribution of one source. `unseen` says why it is incomplete. */
export type TimelinePart = {
  readonly items?: readonly TracedItem[]
  readonly entries?: readonly TimelineEntry[]
  readonly unseen?: string | undefined
}

export type Roots = {
  readonly payments: readonly string[]
  readonly cashouts: readonly string[]
  /** Operations of no payment or cash-out: sends, verifications, drips, freezes, returned deposits. */
  readonly operations: readonly string[]
  readonly wallets: readonly string[]
  /** The id itself, and its other names in the books and in operators' commands. */
  readonly others: readonly string[]
}
