import type { Lifecycle } from '#shared/lifecycle'
import type { CashoutCreate } from '#shared/messages/payouts'
import type { ReadRequestOf } from '#shared/messages/topic'
import type { Limits } from '#shared/overdue'

/** What a user asks for: a signed transfer of AUSD, and the bank account to pay. */
export type CashoutRequest = ReadRequestOf<typeof CashoutCreate>

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
  failed: ['returning'], // Nothing was taken, but anybody may still submit the signed transfer.
  taken: ['paying'],
  paying: ['paid', 'returning'], // Only evidence ends it: an unclear answer changes nothing.
  paid: ['returning'], // A bank may send a transfer back after the provider called it done.
  returning: ['returned'],
  returned: [],
}

const minuteMs = 60_000

/** How long a cash-out may be in a state. */
export const limits: Limits<CashoutState> = {
  taking: { afterMs: 15 * minuteMs, alarm: 'AUSD of a cash-out is not taken' },
  taken: { afterMs: 10 * minuteMs, alarm: 'cash-out is not ordered at the provider' },
  paying: { afterMs: 120 * minuteMs, alarm: 'bank transfer stays unclear' },
  returning: { afterMs: 10 * minuteMs, alarm: 'AUSD of a cash-out is not returned' },
  paid: { rests: 'the bank has it; whether it sends it back is asked for' },
  failed: { rests: 'nothing was taken; the relayer watches the signed transfer' },
  returned: { rests: 'the AUSD is theirs again' },
}

/** Not yet onchain, or not yet confirmed by the provider. */
export const inFlightStates: readonly CashoutState[] = ['taking', 'taken', 'paying', 'returning']

/** Why a cash-out did not reach the bank, as its user reads it. */
export const reasonTexts = {
  authorization_expired: 'the signed transfer expired before it was executed; nothing was taken',
  authorization_used: 'the signed transfer was already used or cancelled; nothing was taken',
  balance_too_low: 'the wallet no longer held enough AUSD; nothing was taken',
  account_frozen: 'the issuer of AUSD has frozen this wallet; nothing was taken',
  take_failed: 'the AUSD could not be moved; nothing was taken',
  taken_late: 'the transfer arrived after the cash-out had failed; your AUSD is returned',
  account_unknown: 'the bank does not know this account; your AUSD is returned',
  name_differs: 'the bank has this account under another name; your AUSD is returned',
  account_limit: 'this account cannot receive as much; your AUSD is returned',
  bank_unavailable: 'the bank could not be reached; your AUSD is returned',
  bank_refused: 'the bank did not accept the transfer; your AUSD is returned',
  bank_reversed: 'the bank sent the transfer back; your AUSD is returned',
  cancelled: 'the transfer was cancelled; your AUSD is returned',
  compliance: 'the transfer was not approved; your AUSD is returned',
  provider_refused: 'the transfer could not be ordered; your AUSD is returned',
} as const
export type Reason = keyof typeof reasonTexts

/** The relayer's reasons for a take that failed for good. */
const takeReasons: ReadonlyMap<string, Reason> = new Map([
  ['authorization_expired', 'authorization_expired'],
  ['authorization_cancelled', 'authorization_used'],
  ['authorization_used_elsewhere', 'authorization_used'],
  ['authorization_conflict', 'authorization_used'],
  ['given_back', 'authorization_used'],
  ['balance_too_low', 'balance_too_low'],
  ['account_frozen', 'account_frozen'],
])

/** One of our reasons, whatever word the relayer uses. */
export const takeReasonFrom = (word: string): Reason => takeReasons.get(word) ?? 'take_failed'
