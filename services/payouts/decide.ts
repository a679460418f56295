import { toFiatFloor } from '#shared/money/conversion'
import { countries } from '#shared/money/countries'
import { money } from '#shared/money/money'
import type { ProviderMeaning } from '#shared/provider/problem'
import type { RefusalCode } from '#shared/refusals'
import type { CashoutRequest, CashoutState, Reason } from './cashout'
import type { Channel, Evidence, PayoutStatus } from './provider'

/** Maximum payout in rupiah: above any bank transfer, and still exact as a JSON number. */
export const payoutMaxMinor = 999_999_999_999_999n

/** Converts AUSD to rupiah at a quote, rounded down, or refuses. */
export function priceFloor(
  ausdMicro: bigint,
  quote: { pair: string; rate: string },
): { fiatMinor: bigint } | { refused: RefusalCode } {
  const country = countries.find(({ pair }) => pair === quote.pair)
  if (!country?.cashoutMinMinor) return { refused: 'quote_not_idr' }
  const rate = { minorPerUsd: BigInt(quote.rate), currency: country.currency }
  const fiatMinor = toFiatFloor(money(ausdMicro, 'AUSD'), rate).minor
  return fiatMinor < country.cashoutMinMinor ? { refused: 'payout_below_minimum' } : { fiatMinor }
}

/** Strictness of account number checks; the provider's magic test numbers have 6 digits. */
export type AccountLengths = 'lenient' | 'strict'

/** Returns the first bank rule that a payout breaks. */
export function checkBank(
  bank: CashoutRequest['bank'],
  fiatMinor: bigint,
  channel: Channel | undefined,
  lengths: AccountLengths,
): RefusalCode | undefined {
  if (!channel) return 'bank_unknown'
  if (fiatMinor < channel.minMinor) return 'payout_below_bank_minimum'
  if (fiatMinor > channel.maxMinor || fiatMinor > payoutMaxMinor) return 'payout_above_maximum'
  if (fiatMinor % channel.incrementMinor !== 0n) return 'payout_not_in_increment'
  return checkAccount(bank, channel, lengths)
}

/** Returns the first rule that a bank account breaks. */
export function checkAccount(
  bank: CashoutRequest['bank'],
  channel: Channel | undefined,
  lengths: AccountLengths,
): 'bank_unknown' | 'bank_account_format' | undefined {
  if (!channel) return 'bank_unknown'
  const [min, max] = accountDigits(channel, lengths)
  const { length } = bank.accountNumber
  return length < min || length > max ? 'bank_account_format' : undefined
}

/** Returns the minimum and maximum digits of the bank's account numbers. */
export const accountDigits = (
  { accountDigits: [min, max] }: Channel,
  lengths: AccountLengths,
): readonly [min: number, max: number] => (lengths === 'strict' ? [min, max] : [6, 20])

/** Input of the decisions. */
export type CashoutFacts = {
  readonly id: string
  readonly state: CashoutState
  readonly fiatMinor: bigint
  readonly providerPayoutId: string | null
  /** Last stored status of the provider; null before there is one. */
  readonly lastStatus: PayoutStatus | null
}

/** Anomalies: evidence that contradicts our promise and needs manual review. */
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
 * Decides once the AUSD is in the treasury at finality. A cash-out that failed or was never accepted
 * is returned, not paid: its rate is no longer locked.
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
      return { next: 'returning', reason: 'taken_late' }
    case 'taken':
    case 'paying':
    case 'paid':
    case 'returning':
    case 'returned':
      return { stay: true }
  }
}

/** Decides on evidence from the provider, whatever way it arrived. */
export function receivePayoutStatus(cashout: CashoutFacts, evidence: Evidence): Step {
  if (!mayBeIts(cashout, evidence)) return { odd: 'paid_twice' }
  if (evidence.amountMinor !== cashout.fiatMinor || evidence.currency !== 'IDR')
    return { odd: 'payout_differs' }
  switch (cashout.state) {
    case 'opening':
    case 'expired':
    case 'taking':
    case 'taken':
    case 'failed':
      return { odd: 'payout_unexpected' } // This row did not order it: `paying` is stored first.
    case 'paying':
      return whilePaying(evidence)
    case 'paid':
      return whilePaid(evidence)
    case 'returning':
    case 'returned':
      return onceReturning(cashout, evidence)
  }
}

/** Returns true if the provider has a payout of the cash-out that reached the bank or still may. */
export const mayBePaid = ({ providerPayoutId, lastStatus }: CashoutFacts): boolean =>
  providerPayoutId !== null && (lastStatus === null || !isFailure(lastStatus))

/**
 * Returns true if this is the payout of the cash-out, or may take the place of a stored one that did
 * not fit, or that failed before the cash-out has followed it.
 */
export function mayBeIts(
  { providerPayoutId, lastStatus, state }: CashoutFacts,
  { payoutId }: Evidence,
): boolean {
  if (providerPayoutId === null || providerPayoutId === payoutId || lastStatus === null) return true
  return !isFollowed(state) && isFailure(lastStatus)
}

/** Returns true once the cash-out has followed a payout, or has ended without one. */
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
      return { odd: 'status_unknown' }
  }
}

function whilePaid({ status }: Evidence): Step {
  switch (status) {
    case 'pending': // An outdated response.
    case 'succeeded':
      return { stay: true }
    case 'reversed':
      return { next: 'returning', reason: 'bank_reversed' }
    case 'refused':
      return { odd: 'payout_differs' } // No documented path leads here: needs manual review.
    case 'unknown':
      return { odd: 'status_unknown' }
  }
}

function onceReturning(cashout: CashoutFacts, { status }: Evidence): Step {
  if (status === 'refused' || status === 'reversed') return { stay: true }
  // An outdated response about a payout that has been reversed or refused since.
  if (status === 'succeeded' && cashout.lastStatus === 'reversed') return { stay: true }
  if (status === 'pending' && cashout.providerPayoutId !== null) return { stay: true }
  return { odd: status === 'unknown' ? 'status_unknown' : 'paid_and_returned' }
}

/**
 * Returns the decisive payouts among several with our reference: failed ones prove nothing if
 * another has reached the bank or still may.
 */
export function decisive(found: readonly Evidence[]): readonly Evidence[] {
  const alive = found.filter((one) => !hasFailed(one))
  return alive.length > 0 ? alive : found
}

export const hasFailed = ({ status }: Evidence): boolean => isFailure(status)

const isFailure = (status: PayoutStatus): boolean => status === 'refused' || status === 'reversed'

/** Refusals about the order itself; only these prove anything. */
const refusesOrder: ReadonlySet<ProviderMeaning> = new Set([
  'request_wrong',
  'amount_outside_limits',
  'channel_unavailable',
  'destination_wrong',
] as const)

/**
 * Classifies a refused attempt: `order` is about this order, `conflict` means the idempotency key
 * is in use, `later` is temporary, and `nothing` is about our key, address or account, or
 * unrecognised.
 */
export function refusalScope(meaning: ProviderMeaning): 'order' | 'conflict' | 'later' | 'nothing' {
  if (refusesOrder.has(meaning)) return 'order'
  if (meaning === 'conflict') return 'conflict'
  return meaning === 'try_later' ? 'later' : 'nothing'
}

/** A refused attempt to pay. */
export type Refused = {
  meaning: ProviderMeaning
  /** Number of payouts found by our reference after the refusal. */
  found: number
  /** Number of attempts including this one, and time since the previous one. */
  attempts: number
  sincePreviousMs: number
}

/** Time after an unclear attempt from which an empty lookup proves that it never arrived. */
export const conclusiveAfterMs = 60_000

/**
 * Returns true if a refusal proves that no transfer exists: it must be about this order, and not
 * follow closely on an attempt of unknown outcome, which may still be processed.
 */
export function believeRefusal({ meaning, found, attempts, sincePreviousMs }: Refused): boolean {
  if (refusalScope(meaning) !== 'order' || found > 0) return false
  return attempts === 1 || sincePreviousMs >= conclusiveAfterMs
}

/** Limits of the doubling wait between checks of an unchanged cash-out, in ms. */
export const checkWait = {
  doublingsMax: 10,
  maxMs: 3_600_000,
  /** Longer, because an authorization may be valid for years and the relayer watches it. */
  failedMaxMs: 86_400_000,
} as const

/** Reasons after which the token rejects the signed transfer permanently. */
const closedReasons: ReadonlySet<Reason | null> = new Set([
  'authorization_expired',
  'authorization_used',
] as const)

/** Returns true if the AUSD may still arrive after a take failed for this reason. */
export const mayArriveLate = (reason: Reason | null): boolean => !closedReasons.has(reason)

/**
 * How long after the authorization's window we ask; the relayer reports late arrivals in minutes.
 */
const reportedWithinMs = 3_600_000

/** Returns true while the relayer is still asked about a failed take. */
export const isWorthAsking = (
  {
    reason,
    authorization,
  }: { reason: Reason | null; authorization: CashoutRequest['authorization'] },
  nowMs: number,
): boolean =>
  mayArriveLate(reason) && nowMs <= Number(authorization.validBefore) * 1_000 + reportedWithinMs
