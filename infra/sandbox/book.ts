import type { Journal } from './journal'
import type {
  AccountHolder,
  Applicant,
  Chargeback,
  Dispute,
  IdentityLink,
  OwnMove,
  Payment,
  PaymentRequest,
  PaymentSession,
  Payout,
  Refund,
  Tariff,
  Webhook,
} from './records'

export type Records = {
  sessions: PaymentSession
  requests: PaymentRequest
  payments: Payment
  refunds: Refund
  chargebacks: Chargeback
  disputes: Dispute
  payouts: Payout
  holders: AccountHolder
  ownMoves: OwnMove
  tariffs: Tariff
  applicants: Applicant
  links: IdentityLink
  webhooks: Webhook
}

type Kind = keyof Records

/** Everything that the sandbox stores. Records are replaced, never mutated. */
export type Book = {
  get<K extends Kind>(kind: K, id: string): Records[K] | undefined
  all<K extends Kind>(kind: K): Records[K][]
  find<K extends Kind>(kind: K, fits: (record: Records[K]) => boolean): Records[K] | undefined
  save<K extends Kind>(kind: K, record: Records[K]): Records[K]
  close(): void
}

/** Opens the book with the entries of its journal, if it has one. */
export function openBook(journal?: Journal): Book {
  const shelves: { [K in Kind]: Shelf<Records[K]> } = {
    sessions: openShelf(),
    requests: openShelf(),
    payments: openShelf(),
    refunds: openShelf(),
    chargebacks: openShelf(),
    disputes: openShelf(),
    payouts: openShelf(),
    holders: openShelf(),
    ownMoves: openShelf(),
    tariffs: openShelf(),
    applicants: openShelf(),
    links: openShelf(),
    webhooks: openShelf(),
  }
  const shelf = <K extends Kind>(kind: K): Shelf<Records[K]> => shelves[kind]
  for (const { kind, record } of journal?.entries ?? []) {
    if (Object.hasOwn(shelves, kind)) shelf(kind as Kind).put(record as Records[Kind])
  }
  return {
    get: (kind, id) => shelf(kind).get(id),
    all: (kind) => shelf(kind).all(),
    find: (kind, fits) => shelf(kind).findNewest(fits),
    save(kind, record) {
      journal?.append({ kind, record })
      shelf(kind).put(record)
      return record
    },
    close: () => journal?.close(),
  }
}

/** Records of one kind, in insertion order. */
type Shelf<R> = {
  get(id: string): R | undefined
  all(): R[]
  findNewest(fits: (record: R) => boolean): R | undefined
  put(record: R): void
}

function openShelf<R extends { readonly id: string }>(): Shelf<R> {
  const places = new Map<string, number>()
  const records: R[] = []
  return {
    get: (id) => records[places.get(id) ?? -1],
    all: () => [...records],
    findNewest: (fits) => records.findLast(fits),
    put(record) {
      const place = places.get(record.id) ?? records.length
      places.set(record.id, place)
      records[place] = record
    },
  }
}
