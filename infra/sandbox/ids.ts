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

/** Source of ids. Returns that many bytes as hexadecimal digits. */
export type Ids = { hex(bytes: number): string }

export const newId = ({ ids }: { readonly ids: Ids }, kind: keyof typeof prefixes): string =>
  `${prefixes[kind]}${newUuid(ids)}`

/** Returns a random UUID (RFC 9562, version 4). */
export function newUuid(ids: Ids): string {
  const hex = ids.hex(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
}

export const newSessionId = ({ ids }: { readonly ids: Ids }): string => `ps-${ids.hex(12)}`

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'

/** Tests the format of an id. The provider refuses an id of another format with 400. */
export const hasForm = (kind: keyof typeof prefixes | 'session', id: string): boolean =>
  (kind === 'session' ? /^ps-[0-9a-f]{24}$/ : new RegExp(`^${prefixes[kind]}${uuid}$`, 'i')).test(id)
