/**
 * Verdicts on a wallet, or changes to its applicant; the last two must never verify a user.
 */
export const verdicts = [
  'approved',
  'rejected',
  'retry',
  'reset',
  'deactivated',
  'deleted',
  'pending',
  'awaiting_service',
] as const

/** Verdict on a wallet. */
export type Verdict = (typeof verdicts)[number]
