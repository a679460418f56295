import { countries } from '#shared/money/countries'
import { feeCeil, type QuotedFee, quotedFee } from '#shared/money/fee'
import { money } from '#shared/money/money'
import { toFiatFloor } from '#shared/money/rate'
import type { PayoutStatus } from '#shared/provider/payout'
import type { ProblemMeaning } from '#shared/provider/problem'
import type { RefusalCode } from '#shared/refusals'
import type { CashoutRequest, CashoutState, Reason } from './cashout'
import type { Evidence, PayoutChannel } from './provider'

/** Maximum of a payout in rupiah: above any bank transfer, and exact as a JSON number. */
export const payoutMaxMinor = 999_999_999_999_999n

/** Prices a cash-out: the rupiah are rounded down, and its fee, which they are reduced by, is rounded up. */
export function priceFloor(
  ausdMicro: bigint,
  quote: { pair: string; rate: string; cashoutFee?: QuotedFee | undefined },
): { fiatMinor: bigint; feeMinor: bigint } | { refused: RefusalCode } {
  const country = countries.find(({ pair }) => pair === quote.pair)
  if (!country?.cashoutMinMinor) return { refused: 'quote_not_idr' }
  const rate = { minorPerUsd: BigInt(quote.rate), currency: country.currency }
  const worthMinor = toFiatFloor(money(ausdMicro, 'AUSD'), rate).minor
  const feeMinor = feeCeil(worthMinor, quotedFee(quote.cashoutFee))
  const fiatMinor = worthMinor - feeMinor
  return fiatMinor < country.cashoutMinMinor ? { refused: 'payout_below_minimum' } : { fiatMinor, feeMinor }
}

/** Check of account number lengths. `lenient` exists because the provider's magic test numbers have 6 digits. */
export type AccountLengths = 'lenient' | 'strict'

export function checkBank(
  bank: CashoutRequest['bank'],
  fiatMinor: bigint,
  channel: PayoutChannel | undefined,
  lengths: AccountLengths,
): RefusalCode | undefined {
  if (!channel) return 'bank_unknown'
  if (fiatMinor < channel.minMinor) return 'payout_below_bank_minimum'
  if (fiatMinor > channel.maxMinor || fiatMinor > payoutMaxMinor) return 'payout_above_maximum'
  if (fiatMinor % channel.incrementMinor !== 0n) return 'payout_not_in_increment'
  return checkAccount(bank, channel, lengths)
}

export function checkAccount(
  bank: Pick<CashoutRequest['bank'], 'accountNumber'>,
  channel: PayoutChannel | undefined,
  lengths: AccountLengths,
): 'bank_unknown' | 'bank_account_format' | undefined {
  if (!channel) return 'bank_unknown'
  const [min, max] = accountDigits(channel, lengths)
  const { length } = bank.accountNumber
  return length < min || length > max ? 'bank_account_format' : undefined
}

export const accountDigits = (
  { accountDigits: [min, max] }: PayoutChannel,
  lengths: AccountLengths,
): readonly [min: number, max: number] => (lengths === 'strict' ? [min, max] : [6, 20])

export type CashoutFacts = {
  readonly id: string
  readonly state: CashoutState
  readonly fiatMinor: bigint
  readonly providerPayoutId: string | null
  readonly lastStatus: PayoutStatus | null
  /** Time since the last step, in ms. */
  readonly sinceMs: number
}

/** Maximum age of a response of the provider, in ms. */
export const answerAgeMaxMs = 1_800_000

/** Evidence that contradicts our promise and needs manual review. */
export const oddities = [
  'paid_twice',
  'payout_differs',
  'payout_unexpected',
  'status_unknown',
  'paid_and_returned',
] as const
export type Oddity = (typeof oddities)[number]

export type Step = { stay: true } | { next: 'paid' } | { next: 'returning'; reason: Reason } | { odd: Oddity }

/**
 * Decides about AUSD that was taken. It is returned if the cash-out was not accepted or has failed, because
 * its rate is no longer locked.
 */
export function receiveTaken(
  state: CashoutState,
): { stay: true } | { next: 'taken' } | { next: 'returning'; reason: Reason } {
  switch (state) {
    case 'taking':
      return { next: 'taken' }
    case 'opening':
    case 'expired':
    case 'failed':
      // guard: a late take of a failed cash-out is given back and never paid
      return { next: 'returning', reason: 'taken_late' }
    case 'taken':
    case 'paying':
    case 'paid':
    case 'returning':
    case 'returned':
      return { stay: true }
  }
}

export function receivePayoutStatus(cashout: CashoutFacts, evidence: Evidence): Step {
  // guard: a second payout of a cash-out is no success
  if (!mayBeIts(cashout, evidence)) return { odd: 'paid_twice' }
  const differs = evidence.amountMinor !== cashout.fiatMinor || evidence.currency !== 'IDR'
  // The payout that we know has moved no money once it has failed, whatever its amount was. Any other may be a stranger's, and
  // of one that was paid such an answer proves nothing.
  const isEnd = hasFailed(evidence) && cashout.providerPayoutId === evidence.payoutId && cashout.state !== 'paid'
  // guard: a payout with another amount is no success
  if (differs && !isEnd) return { odd: 'payout_differs' }
  switch (cashout.state) {
    case 'opening':
    case 'expired':
    case 'taking':
    case 'taken':
    case 'failed':
      return { odd: 'payout_unexpected' } // `paying` is stored before an order, so the provider cannot know a payout yet.
    case 'paying':
      return whilePaying(evidence)
    case 'paid':
      return whilePaid(evidence)
    case 'returning':
    case 'returned':
      return onceReturning(cashout, evidence)
  }
}

/** Returns true if the provider has a payout that reached the bank or still may. */
export const mayBePaid = ({ providerPayoutId, lastStatus }: CashoutFacts): boolean =>
  // guard: AUSD of a cash-out whose payout may have reached the bank is not returned
  providerPayoutId !== null && !isFailure(lastStatus)

/**
 * Returns true for the row's own payout, and for one that may replace a stored payout which does not fit, or
 * whose failure the row has not followed.
 */
export function mayBeIts({ providerPayoutId, lastStatus, state }: CashoutFacts, { payoutId }: Evidence): boolean {
  if (providerPayoutId === null || providerPayoutId === payoutId || lastStatus === null) return true
  return !isFollowed(state) && isFailure(lastStatus)
}

export const isFollowed = (state: CashoutState): boolean =>
  state === 'paid' || state === 'returning' || state === 'returned'

function whilePaying({ status, reason }: Evidence): Step {
  switch (status) {
    case 'pending':
      return { stay: true }
    case 'succeeded':
      return { next: 'paid' }
    case 'refused':
      return { next: 'returning', reason: reason ?? 'bank_refused' }
    case 'reversed':
      return { next: 'returning', reason: 'bank_reversed' }
    case 'unknown':
      // guard: an unknown status is no success
      return { odd: 'status_unknown' }
  }
}

function whilePaid({ status, isListedAsFailed }: Evidence): Step {
  switch (status) {
    case 'pending': // The response is outdated.
    case 'succeeded':
      return { stay: true }
    case 'reversed':
      return { next: 'returning', reason: 'bank_reversed' }
    case 'refused':
      // Documented for other providers only, so that one answer alone may be wrong.
      // guard: a paid cash-out whose payout reads as failed is returned only if the list says so too
      return isListedAsFailed ? { next: 'returning', reason: 'bank_reversed' } : { odd: 'payout_differs' }
    case 'unknown':
      return { odd: 'status_unknown' }
  }
}

function onceReturning(cashout: CashoutFacts, { status }: Evidence): Step {
  if (status === 'refused' || status === 'reversed') return { stay: true }
  // Responses that are outdated change nothing.
  const isReversed = cashout.lastStatus === 'reversed' && cashout.sinceMs < answerAgeMaxMs
  if (status === 'succeeded' && isReversed) return { stay: true }
  if (status === 'pending' && cashout.providerPayoutId !== null) return { stay: true }
  return { odd: status === 'unknown' ? 'status_unknown' : 'paid_and_returned' }
}

/**
 * Returns the payouts that decide. Failed payouts prove nothing if another one with our reference has reached
 * the bank or still may.
 */
export function decisive(found: readonly Evidence[]): readonly Evidence[] {
  const alive = found.filter((one) => !hasFailed(one))
  // guard: of two payouts, the one that may still reach the bank decides
  return alive.length > 0 ? alive : found
}

export const hasFailed = ({ status }: Evidence): boolean => isFailure(status)

export const isFailure = (status: PayoutStatus | null): boolean => status === 'refused' || status === 'reversed'

/** Refusals about the order itself; no other refusal proves anything. */
const refusesOrder: ReadonlySet<ProblemMeaning> = new Set([
  'request_wrong',
  'amount_outside_limits',
  'channel_unavailable',
  'destination_wrong',
] as const)

/**
 * Returns what a refusal is about. `nothing`: our key, address or account, or unrecognised; `conflict`: the
 * key is in use.
 */
export function refusalScope(meaning: ProblemMeaning): 'order' | 'conflict' | 'later' | 'nothing' {
  if (refusesOrder.has(meaning)) return 'order'
  if (meaning === 'conflict') return 'conflict'
  return meaning === 'try_later' ? 'later' : 'nothing'
}

export type Refused = {
  meaning: ProblemMeaning
  /** Payouts found by our reference after the refusal. */
  found: number
  /** Number of attempts, including this one. */
  attempts: number
  sincePreviousMs: number
}

/**
 * Age from which a cash-out is looked up before its first order, in ms: cash-outs are normally paid in seconds, and an older
 * row may come from a backup.
 */
export const lateMs = 60_000

/** Age of an unclear attempt, in ms, from which an empty lookup proves that the order never arrived. */
export const conclusiveAfterMs = 60_000

/**
 * Returns true if a refusal proves that no transfer exists. Soon after an unclear attempt it proves nothing:
 * that attempt may still be processed.
 */
export function believeRefusal({ meaning, found, attempts, sincePreviousMs }: Refused): boolean {
  // guard: only a refusal of this very order counts
  if (refusalScope(meaning) !== 'order' || found > 0) return false
  // guard: a refusal proves nothing right after an attempt of unknown outcome
  return attempts === 1 || sincePreviousMs >= conclusiveAfterMs
}

/** Intervals between checks, which double up to a maximum. */
export const checkWait = {
  maxMs: 3_600_000,
  /** Maximum for failed cash-outs, in ms: an authorization may be valid for years, and the relayer watches it. */
  failedMaxMs: 86_400_000,
} as const

const closedReasons: ReadonlySet<Reason | null> = new Set(['authorization_expired', 'authorization_used'] as const)

export const mayArriveLate = (reason: Reason | null): boolean => !closedReasons.has(reason)

/** Time within which the relayer reports a late arrival, in ms; it normally needs minutes. */
const reportedWithinMs = 3_600_000

export const isWorthAsking = (
  { reason, authorization }: { reason: Reason | null; authorization: CashoutRequest['authorization'] },
  nowMs: number,
): boolean => mayArriveLate(reason) && nowMs <= Number(authorization.validBefore) * 1_000 + reportedWithinMs
