/** Why a cash-out did not reach the bank, in words for the person who wanted it. */
export const reasonTexts = {
  authorization_expired: 'the signed transfer expired before it was executed; nothing was taken',
  authorization_used: 'the signed transfer was already used or cancelled; nothing was taken',
  balance_too_low: 'the wallet no longer held enough AUSD; nothing was taken',
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
export const reasons = Object.keys(reasonTexts) as [Reason, ...Reason[]]

/** The relayer's reasons for a take that failed for good. */
const takeReasons: ReadonlyMap<string, Reason> = new Map([
  ['authorization_expired', 'authorization_expired'],
  ['authorization_cancelled', 'authorization_used'],
  ['authorization_used_elsewhere', 'authorization_used'],
  ['authorization_conflict', 'authorization_used'],
  ['balance_too_low', 'balance_too_low'],
])

/** Reasons after which nobody can use what was signed: the token itself said so. */
const closedReasons: ReadonlySet<Reason | null> = new Set([
  'authorization_expired',
  'authorization_used',
] as const)

/** Whether the AUSD of a take that failed for this reason may still arrive. */
export const mayArriveLate = (reason: Reason | null): boolean => !closedReasons.has(reason)

/** Whatever word the relayer says, a person reads one of our sentences. */
export const takeReasonFrom = (word: string): Reason => takeReasons.get(word) ?? 'take_failed'
