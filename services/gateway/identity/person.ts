/** Wallet in lower case. */
type Wallet = `0x${string}`

/** Other wallets of the person; null for an applicant that is none of ours. `unknown` does not mean "none". */
export type SamePerson = readonly (Wallet | null)[] | 'unknown'

/** `withdrawn`: not verified whatever the provider says. `restored`: the earlier decision was taken back. */
export const rulings = ['allowed', 'linked', 'withdrawn', 'restored'] as const
export type Ruling = (typeof rulings)[number]

/** Returns true if a wallet with this decision is not verified. */
export const isAgainst = (ruling: Ruling): boolean => ruling === 'linked' || ruling === 'withdrawn'

export type Holding = {
  readonly wallet: Wallet
  /** Time of the first verification, even if it was withdrawn or its data erased. */
  readonly firstVerifiedAt: Date | null
  /** True if an operator withdrew the verification of this wallet. */
  readonly isWithdrawn?: boolean
}

/**
 * Verdict about the person of a wallet. `sameAs` is the wallet with the person's record; null if it is none
 * of ours. `withdrawn`: an operator withdrew the verification.
 */
export type PersonVerdict = { alone: true } | { sameAs: Wallet | null } | { withdrawn: true } | 'unknown'

/**
 * Judges whether a wallet may have the person's record, which belongs to the wallet verified first. A second
 * wallet waits for an operator; if it was verified because an answer was incomplete, the verification is
 * withdrawn.
 */
export function judgePerson(
  own: Holding & { readonly ruling: Ruling | null; readonly linkedTo: Wallet | null },
  same: SamePerson,
  others: readonly Holding[],
): PersonVerdict {
  if (own.ruling === 'allowed') return { alone: true }
  if (own.ruling === 'linked') return { sameAs: own.linkedTo }
  // guard: a wallet whose verification an operator withdrew is not verified by an approval
  if (own.ruling === 'withdrawn') return { withdrawn: true }
  // guard: an approval waits until the provider has said who else is this person
  if (same === 'unknown') return 'unknown'
  const [first] = others.filter((other) => wasFirst(other, own)).sort(byFirst)
  // guard: a person has one verified wallet
  if (first) return { sameAs: first.wallet }
  // The time at which a stranger was verified is unknown, so a stranger that appears later withdraws nothing.
  return same.includes(null) && own.firstVerifiedAt === null ? { sameAs: null } : { alone: true }
}

/** Returns true if the other wallet has the record. A withdrawal also keeps the person from being verified with a new wallet. */
function wasFirst(other: Holding, own: Holding): boolean {
  // guard: a person whose verification an operator withdrew is not verified with another wallet
  if (other.isWithdrawn === true && own.firstVerifiedAt === null) return true
  return other.firstVerifiedAt !== null && (own.firstVerifiedAt === null || byFirst(other, own) < 0)
}

/** Orders wallets by their first verification, at the same time by address, so that all instances agree. */
const byFirst = (left: Holding, right: Holding): number =>
  (left.firstVerifiedAt?.getTime() ?? 0) - (right.firstVerifiedAt?.getTime() ?? 0) ||
  (left.wallet < right.wallet ? -1 : 1)
