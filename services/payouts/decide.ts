import { toFiatFloor } from '#shared/money/conversion'
import { countries } from '#shared/money/countries'
import { money } from '#shared/money/money'
import type { ProviderMeaning } from '#shared/provider/problem'
import type { RefusalCode } from '#shared/refusals'
import type { CashoutRequest, CashoutState, Reason } from './cashout'
import type { Channel, Evidence, PayoutStatus } from './provider'

/** More than any bank transfer, and still exact as the provider's JSON number. */
/** More is no amount of the provider's. */
export const payoutMaxMinor = 999_999_999_999_999n

/** The rupiah that a quote makes of an amount of AUSD, or why it cannot. Rounded down. */
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

/** How strictly account numbers are checked; the provider's magic test numbers have 6 digits. */
export type AccountLengths = 'lenient' | 'strict'

/** The first rule of the bank that a payout breaks. */
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
  const [min, max] = accountDigits(channel, lengths)
  const { length } = bank.accountNumber
  return length < min || length > max ? 'bank_account_format' : undefined
}

/** So few and so many digits an account number of the bank has. */
export const accountDigits = (
  { accountDigits: [min, max] }: Channel,
  lengths: AccountLengths,
): readonly [min: number, max: number] => (lengths === 'strict' ? [min, max] : [6, 20])

/** What the decisions need to know of a cash-out. */
export type CashoutFacts = {
  readonly id: string
  readonly state: CashoutState
  readonly fiatMinor: bigint
  readonly providerPayoutId: string | null
  /** The last status of the provider that we kept; null before there is one. */
  readonly lastStatus: PayoutStatus | null
}

/** What does not fit what we promised; a person has to look into it. */
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
 * What it changes that the AUSD is in the treasury, at finality. After a failure nothing is paid any
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

/** The one function that decides what the provider's word changes, however it reached us. */
export function receivePayoutStatus(cashout: CashoutFacts, evidence: Evidence): Step {
  if (cashout.providerPayoutId !== null && cashout.providerPayoutId !== evidence.payoutId)
    return { odd: 'paid_twice' }
  if (evidence.amountMinor !== cashout.fiatMinor || evidence.currency !== 'IDR')
    return { odd: 'payout_differs' }
  switch (cashout.state) {
    case 'taking':
    case 'taken':
    case 'failed':
      return { odd: 'payout_unexpected' } // Nobody ordered it yet: we store `paying` first.
    case 'paying':
      return whilePaying(evidence)
    case 'paid':
      return whilePaid(evidence)
    case 'returning':
    case 'returned':
      return onceReturning(cashout, evidence)
  }
}

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
    case 'pending': // An older answer that arrives late.
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
  // An older answer about a payout that was reversed or refused since changes nothing.
  if (status === 'succeeded' && cashout.lastStatus === 'reversed') return { stay: true }
  if (status === 'pending' && cashout.providerPayoutId !== null) return { stay: true }
  return { odd: status === 'unknown' ? 'status_unknown' : 'paid_and_returned' }
}

/**
 * Of several payouts with our reference, those that decide: while one may still reach the bank, or
 * has, the ones that failed prove nothing.
 */
export function decisive(found: readonly Evidence[]): readonly Evidence[] {
  const alive = found.filter((one) => !hasFailed(one))
  return alive.length > 0 ? alive : found
}

export const hasFailed = ({ status }: Evidence): boolean =>
  status === 'refused' || status === 'reversed'

/** With these the provider refuses the very order it was given; only they prove something. */
const refusesOrder: ReadonlySet<ProviderMeaning> = new Set([
  'request_wrong',
  'amount_outside_limits',
  'channel_unavailable',
  'destination_wrong',
] as const)

/**
 * What a refused attempt is about: this order (`order`), an idempotency key that somebody else uses
 * (`conflict`), the moment (`later`), or neither of them (`nothing`): our key, our address, our
 * account, or a word nobody has seen.
 */
export function aboutOf(meaning: ProviderMeaning): 'order' | 'conflict' | 'later' | 'nothing' {
  if (refusesOrder.has(meaning)) return 'order'
  if (meaning === 'conflict') return 'conflict'
  return meaning === 'try_later' ? 'later' : 'nothing'
}

/** What an attempt to pay was answered, when it was neither accepted nor unclear. */
export type Refused = {
  meaning: ProviderMeaning
  /** What a look-up by our reference found after the refusal. */
  found: number
  /** How many attempts there were, this one included, and how long ago the one before was made. */
  attempts: number
  sincePreviousMs: number
}

/** This long after an unclear attempt, an empty look-up proves that it never arrived. */
export const conclusiveAfterMs = 60_000

/**
 * Does a refusal prove that no transfer exists? Not when it is about anything but this order. Not
 * right after an attempt of unknown outcome: that one may still be on its way in.
 */
export function believeRefusal({ meaning, found, attempts, sincePreviousMs }: Refused): boolean {
  if (aboutOf(meaning) !== 'order' || found > 0) return false
  return attempts === 1 || sincePreviousMs >= conclusiveAfterMs
}

/** The wait before the next check of a cash-out that stays as it is doubles up to a limit; ms. */
export const checkWait = {
  doublingsMax: 10,
  maxMs: 3_600_000,
  /** An authorization may be valid for years, and the relayer watches it. */
  failedMaxMs: 86_400_000,
} as const

/** After these reasons nobody can use the signed transfer: the token itself said so. */
const closedReasons: ReadonlySet<Reason | null> = new Set([
  'authorization_expired',
  'authorization_used',
] as const)

/** Whether the AUSD of a take that failed for this reason may still arrive. */
export const mayArriveLate = (reason: Reason | null): boolean => !closedReasons.has(reason)

/** The relayer reports a late arrival within minutes of the end of the authorization's window. */
const reportedWithinMs = 3_600_000

/** Whether the relayer is still asked about a take that failed. */
export const isWorthAsking = (
  {
    reason,
    authorization,
  }: { reason: Reason | null; authorization: CashoutRequest['authorization'] },
  nowMs: number,
): boolean =>
  mayArriveLate(reason) && nowMs <= Number(authorization.validBefore) * 1_000 + reportedWithinMs
