/** A wallet, in lower case. */
type Wallet = `0x${string}`

/**
 * Wallets that the provider has as the same person, without the wallet that was asked about: null for an
 * applicant that is none of our wallets. `unknown` without a clear answer, which is not the same as none.
 */
export type SamePerson = readonly (Wallet | null)[] | 'unknown'

/** Decisions of operators about the person of a wallet. */
export const rulings = ['allowed', 'linked'] as const
export type Ruling = (typeof rulings)[number]

/** What we know about a wallet and its person. */
export type Holding = {
  readonly wallet: Wallet
  /** When we verified it for the first time, also if that was withdrawn or its data erased. */
  readonly firstVerifiedAt: Date | null
}

/** `sameAs`: the wallet with the person's record; null if it is none of ours. */
export type PersonVerdict = { alone: true } | { sameAs: Wallet | null } | 'unknown'

/**
 * Decides whether a person approved for a wallet may be verified with it. The person's record is that of the
 * wallet verified first. A second wallet waits for an operator; one that was verified because of an
 * incomplete answer is withdrawn. A wallet that was never verified has no record.
 */
export function judgePerson(
  own: Holding & { readonly ruling: Ruling | null; readonly linkedTo: Wallet | null },
  same: SamePerson,
  others: readonly Holding[],
): PersonVerdict {
  if (own.ruling === 'allowed') return { alone: true }
  if (own.ruling === 'linked') return { sameAs: own.linkedTo }
  if (same === 'unknown') return 'unknown'
  const [first] = others.filter((other) => wasFirst(other, own)).sort(byFirst)
  if (first) return { sameAs: first.wallet }
  // The time of a stranger is unknown, so one that appears later withdraws nothing.
  return same.includes(null) && own.firstVerifiedAt === null ? { sameAs: null } : { alone: true }
}

const wasFirst = (other: Holding, own: Holding): boolean =>
  other.firstVerifiedAt !== null && (own.firstVerifiedAt === null || byFirst(other, own) < 0)

/** Orders by the first verification; at the same time by wallet, so that all instances agree. */
const byFirst = (left: Holding, right: Holding): number =>
  (left.firstVerifiedAt?.getTime() ?? 0) - (right.firstVerifiedAt?.getTime() ?? 0) ||
  (left.wallet < right.wallet ? -1 : 1)
