import { canBecome, type Lifecycle } from '#shared/lifecycle'
import type { ProviderMeaning } from '#shared/provider/problem'
import type { PayoutStatus } from './payout-provider.ts'
import type { Reason } from './reason.ts'

export const cashoutStates = [
  'taking',
  'taken',
  'paying',
  'paid',
  'failed',
  'returning',
  'returned',
] as const
export type CashoutState = (typeof cashoutStates)[number]

/** From the user's signature to the bank, or back to the user. */
export const lifecycle: Lifecycle<CashoutState> = {
  taking: ['taken', 'failed'],
  failed: ['returning'], // Nothing was taken; but what was signed may still be used by anybody.
  taken: ['paying'],
  paying: ['paid', 'returning'], // Left by evidence alone: an unclear answer changes nothing.
  paid: ['returning'], // A bank may send a transfer back after the provider called it done.
  returning: ['returned'],
  returned: [],
}

/** Not yet onchain, or not yet confirmed by the provider. */
export const inFlightStates: readonly CashoutState[] = ['taking', 'taken', 'paying', 'returning']

/** What the decisions need to know of a cash-out. */
export type CashoutFacts = {
  readonly id: string
  readonly state: CashoutState
  readonly fiatMinor: bigint
  readonly providerPayoutId: string | null
  readonly providerStatus: string | null
}

/** What the provider said about one payout, fetched with our own key. */
export type Evidence = {
  readonly payoutId: string
  readonly referenceId: string
  readonly status: PayoutStatus
  readonly word: string
  readonly failureCode: string | null
  readonly amountMinor: bigint | undefined
  readonly currency: string
}

/** What does not fit what we promised; a person has to look. */
export type Oddity =
  | 'paid_twice'
  | 'payout_differs'
  | 'payout_unexpected'
  | 'status_unknown'
  | 'paid_and_returned'

export type Step =
  | { stay: true }
  | { next: 'paid' }
  | { next: 'returning'; reason: Reason }
  | { odd: Oddity }

/**
 * What it changes that the AUSD is in the treasury, finally. After a failure nothing is paid any
 * more: the user was told so, and the locked rate is long gone.
 */
export function receiveTaken(
  state: CashoutState,
): { stay: true } | { next: 'taken' } | { next: 'returning'; reason: Reason } {
  switch (state) {
    case 'taking':
      return { next: 'taken' }
    case 'failed':
      return { next: 'returning', reason: 'taken_late' }
    case 'taken':
    case 'paying':
    case 'paid':
    case 'returning':
    case 'returned':
      return { stay: true }
  }
}

/** The one function that decides what the provider's word changes, whoever brought it. */
export function receivePayoutStatus(cashout: CashoutFacts, evidence: Evidence): Step {
  if (cashout.providerPayoutId !== null && cashout.providerPayoutId !== evidence.payoutId)
    return { odd: 'paid_twice' }
  if (evidence.amountMinor !== cashout.fiatMinor || evidence.currency !== 'IDR')
    return { odd: 'payout_differs' }
  switch (cashout.state) {
    case 'taking':
    case 'taken':
    case 'failed':
      return { odd: 'payout_unexpected' } // Nobody asked for it yet: we store `paying` first.
    case 'paying':
      return whilePaying(evidence)
    case 'paid':
      return whilePaid(evidence)
    case 'returning':
    case 'returned':
      return onceReturning(cashout, evidence)
  }
}

function whilePaying({ status, failureCode, word }: Evidence): Step {
  switch (status) {
    case 'pending':
      return { stay: true }
    case 'succeeded':
      return { next: 'paid' }
    case 'refused':
      return {
        next: 'returning',
        reason: refusalReasons.get(failureCode ?? word) ?? 'bank_refused',
      }
    case 'reversed':
      return { next: 'returning', reason: 'bank_reversed' }
    case 'unknown':
      return { odd: 'status_unknown' }
  }
}

function whilePaid({ status }: Evidence): Step {
  switch (status) {
    case 'pending': // An older look that arrives late.
    case 'succeeded':
      return { stay: true }
    case 'reversed':
      return { next: 'returning', reason: 'bank_reversed' }
    case 'refused':
      return { odd: 'payout_differs' } // No documented path leads here: a person decides.
    case 'unknown':
      return { odd: 'status_unknown' }
  }
}

function onceReturning(cashout: CashoutFacts, { status }: Evidence): Step {
  if (status === 'refused' || status === 'reversed') return { stay: true }
  // An older look at a payout that was reversed or refused since is no news.
  if (status === 'succeeded' && cashout.providerStatus === 'REVERSED') return { stay: true }
  if (status === 'pending' && cashout.providerPayoutId !== null) return { stay: true }
  return { odd: status === 'unknown' ? 'status_unknown' : 'paid_and_returned' }
}

/** The provider's failure codes and end states, as its payout references list them. */
const refusalReasons: ReadonlyMap<string, Reason> = new Map([
  ['INVALID_DESTINATION', 'account_unknown'],
  ['ACCOUNT_NAME_MISMATCH', 'name_differs'],
  ['DESTINATION_MAXIMUM_LIMIT', 'account_limit'],
  ['TEMPORARY_TRANSFER_ERROR', 'bank_unavailable'],
  ['UNKNOWN_BANK_NETWORK_ERROR', 'bank_unavailable'],
  ['CANCELLED', 'cancelled'],
  ['EXPIRED', 'cancelled'],
  ['COMPLIANCE_REJECTED', 'compliance'],
])

/**
 * Of several payouts with our reference, those that decide: while one may still reach the bank, or
 * has, the ones that failed prove nothing.
 */
export function decisive(found: readonly Evidence[]): readonly Evidence[] {
  const alive = found.filter(({ status }) => status !== 'refused' && status !== 'reversed')
  return alive.length > 0 ? alive : found
}

/** By these words the provider turns down the very order it was given; they alone prove something. */
const turnsDownOrder: ReadonlySet<ProviderMeaning> = new Set([
  'request_wrong',
  'amount_outside_limits',
  'channel_unavailable',
  'destination_wrong',
] as const)

/**
 * Whether a refused attempt says no to this order (`order`), that somebody has our key (`conflict`),
 * to come again (`later`), or something that is no answer to it at all (`nothing`): about our key,
 * our address, our account, or in a word nobody has seen.
 */
export function aboutOf(meaning: ProviderMeaning): 'order' | 'conflict' | 'later' | 'nothing' {
  if (turnsDownOrder.has(meaning)) return 'order'
  if (meaning === 'conflict') return 'conflict'
  return meaning === 'try_later' ? 'later' : 'nothing'
}

/** What an attempt to pay was answered, when it was neither accepted nor unclear. */
export type Refused = {
  meaning: ProviderMeaning
  /** What a look-up by our reference found after the refusal. */
  found: number
  /** How many attempts there were, this one included, and how long ago the one before was asked. */
  attempts: number
  sincePreviousMs: number
}

/** So long after an unclear attempt, an empty look-up proves that it never arrived. */
export const settledAfterMs = 60_000

/**
 * Does a refusal prove that no transfer exists? Not when it speaks of anything but this order. Not
 * right after an attempt of unknown outcome: that one may still be on its way in.
 */
export function believeRefusal({ meaning, found, attempts, sincePreviousMs }: Refused): boolean {
  if (aboutOf(meaning) !== 'order' || found > 0) return false
  return attempts === 1 || sincePreviousMs >= settledAfterMs
}

export const mayBecome = (from: CashoutState, to: CashoutState) => canBecome(lifecycle, from, to)
