/**
 * What a reviewer decides about a wallet, or what becomes of the applicant; the last two are traps
 * that must never verify.
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

/** One of the decisions. */
export type Verdict = (typeof verdicts)[number]
