/** Verdicts that a control can set. The last two must never verify a user. */
export const verdicts = [
  'approved',
  'rejected',
  'retry',
  'reset',
  'deactivated',
  'activated',
  'deleted',
  'pending',
  'awaiting_service',
] as const

export type Verdict = (typeof verdicts)[number]
