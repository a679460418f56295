const prefixes = {
  request: 'pr-',
  payment: 'py-',
  capture: 'cptr-',
  customer: 'cust-',
  refund: 'rfd-',
  chargeback: 'cb-',
  dispute: 'mi-dspt-',
  payout: 'disb-',
  payoutV3: 'po-',
  ownMove: 'own-',
  tariff: 'fee-',
  inquiry: 'inq_',
  personaEvent: 'evt_',
} as const

export const newId = (kind: keyof typeof prefixes): string => `${prefixes[kind]}${crypto.randomUUID()}`

export const newSessionId = (): string => `ps-${randomHex(12)}`

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'

/** Tests the format of an id. The provider refuses an id of another format with 400. */
export const hasForm = (kind: keyof typeof prefixes | 'session', id: string): boolean =>
  (kind === 'session' ? /^ps-[0-9a-f]{24}$/ : new RegExp(`^${prefixes[kind]}${uuid}$`, 'i')).test(id)

export const randomHex = (bytes: number): string => crypto.getRandomValues(new Uint8Array(bytes)).toHex()
