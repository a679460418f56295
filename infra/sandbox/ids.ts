const prefixes = {
  request: 'pr-',
  payment: 'py-',
  capture: 'cptr-',
  customer: 'cust-',
  refund: 'rfd-',
  chargeback: 'cb-',
  payout: 'disb-',
  payoutV3: 'po-',
  ownMove: 'own-',
  inquiry: 'inq_',
  personaEvent: 'evt_',
} as const

/** Generates an id in the provider's format: a prefix and a UUID. */
export const newId = (kind: keyof typeof prefixes): string =>
  `${prefixes[kind]}${crypto.randomUUID()}`

/** Generates a session id: `ps-` and 24 hex digits. */
export const newSessionId = (): string => `ps-${randomHex(12)}`

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'

/** Returns true if an id has the format of its kind; the provider refuses any other with 400. */
export const hasForm = (kind: keyof typeof prefixes | 'session', id: string): boolean =>
  (kind === 'session' ? /^ps-[0-9a-f]{24}$/ : new RegExp(`^${prefixes[kind]}${uuid}$`, 'i')).test(
    id,
  )

/** Generates lower-case hex of the given number of random bytes. */
export const randomHex = (bytes: number): string =>
  crypto.getRandomValues(new Uint8Array(bytes)).toHex()
