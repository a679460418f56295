const prefixes = {
  request: 'pr-',
  payment: 'py-',
  capture: 'cptr-',
  customer: 'cust-',
  refund: 'rfd-',
  chargeback: 'cb-',
  payout: 'disb-',
  inquiry: 'inq_',
  personaEvent: 'evt_',
} as const

/** A new id in the provider's shape: its prefix and a UUID. */
export const newId = (kind: keyof typeof prefixes): string =>
  `${prefixes[kind]}${crypto.randomUUID()}`

/** A new session id: `ps-` and 24 hex digits. */
export const newSessionId = (): string => `ps-${randomHex(12)}`

/** Random lower-case hex of so many bytes. */
export const randomHex = (bytes: number): string =>
  crypto.getRandomValues(new Uint8Array(bytes)).toHex()
