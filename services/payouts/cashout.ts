import type { Lifecycle } from '#shared/lifecycle'
import type { ActivityReason, NextAction } from '#shared/messages/activity'
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
const reasonTexts = {
  authorization_expired: 'The signed transfer expired before it was executed.',
  authorization_used: 'The signed transfer was already used or cancelled.',
  balance_too_low: 'The wallet no longer held enough AUSD.',
  account_frozen: 'The issuer of AUSD has frozen this wallet.',
  take_failed: 'The AUSD could not be moved.',
  taken_late: 'The transfer arrived after the cash-out had failed.',
  account_unknown: 'The bank does not know this account.',
  name_differs: 'The bank has this account under another name.',
  account_limit: 'This account cannot receive as much.',
  bank_unavailable: 'The bank could not be reached.',
  bank_refused: 'The bank did not accept the transfer.',
  bank_reversed: 'The bank sent the transfer back.',
  cancelled: 'The transfer was cancelled.',
  compliance: 'The transfer was not approved.',
  provider_refused: 'The transfer could not be ordered.',
} as const satisfies Partial<Record<ActivityReason, string>>
export type Reason = keyof typeof reasonTexts

/** How it stands in each state, and what there is to do. */
const standing: Readonly<Record<CashoutState, Words>> = {
  taking: { sentence: 'Your AUSD is being taken.', nextAction: 'wait' },
  taken: { sentence: 'Your AUSD was taken; the bank is paid next.', nextAction: 'wait' },
  paying: { sentence: 'The transfer to the bank is under way.', nextAction: 'wait' },
  paid: { sentence: 'The bank was paid.', nextAction: null },
  failed: { sentence: 'Nothing was taken.', nextAction: null },
  returning: { sentence: 'Your AUSD is on its way back to you.', nextAction: 'wait' },
  returned: { sentence: 'Your AUSD is back in your wallet.', nextAction: null },
}
type Words = { readonly sentence: string; readonly nextAction: NextAction | null }

/** What its user reads about a cash-out. */
export function wordsFor({ state, reason }: { state: CashoutState; reason: Reason | null }): Words {
  const { sentence, nextAction } = standing[state]
  return { sentence: reason ? `${reasonTexts[reason]} ${sentence}` : sentence, nextAction }
}

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
