/** Codes of invalid forms. The gateway has a text about each in every language. */
export const forms = [
  'amount',
  'address',
  'hash',
  'uuid',
  'unix_seconds',
  'pair',
  'method',
  'country',
  'signature',
  'object',
  'bank_code',
  'account_number',
  'holder_name',
  'whole_settlement',
] as const
export type Form = (typeof forms)[number]
