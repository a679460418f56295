import { type Journal, noJournal, openJournal, readJournal } from './journal'
import type {
  Applicant,
  Chargeback,
  IdentityLink,
  OwnMove,
  Payment,
  PaymentRequest,
  Payout,
  Refund,
  Session,
  Webhook,
} from './records'

/** Everything that ever happened in the sandbox, by kind. */
export type Records = {
  sessions: Session
  requests: PaymentRequest
  payments: Payment
  refunds: Refund
  chargebacks: Chargeback
  payouts: Payout
  ownMoves: OwnMove
  applicants: Applicant
  links: IdentityLink
  webhooks: Webhook
}

type Kind = keyof Records

/** The book: records are never changed, only replaced, and each replacement is journalled. */
export type Book = {
  get<K extends Kind>(kind: K, id: string): Records[K] | undefined
  all<K extends Kind>(kind: K): Records[K][]
  /** The newest record that fits. */
  find<K extends Kind>(kind: K, fits: (record: Records[K]) => boolean): Records[K] | undefined
  save<K extends Kind>(kind: K, record: Records[K]): Records[K]
  close(): void
}

/** Opens the book, reading back the journal at `path` if there is one. */
export function openBook(path: string | null): Book {
  const shelves: { [K in Kind]: Map<string, Records[K]> } = {
    sessions: new Map(),
    requests: new Map(),
    payments: new Map(),
    refunds: new Map(),
    chargebacks: new Map(),
    payouts: new Map(),
    ownMoves: new Map(),
    applicants: new Map(),
    links: new Map(),
    webhooks: new Map(),
  }
  const shelf = <K extends Kind>(kind: K): Map<string, Records[K]> => shelves[kind]
  for (const { kind, record } of path ? readJournal(path) : []) {
    if (Object.hasOwn(shelves, kind)) shelf(kind as Kind).set(record.id, record as Records[Kind])
  }
  const journal: Journal = path ? openJournal(path) : noJournal
  return {
    get: (kind, id) => shelf(kind).get(id),
    all: (kind) => [...shelf(kind).values()],
    find: (kind, fits) => [...shelf(kind).values()].reverse().find(fits),
    save(kind, record) {
      journal.append({ kind, record })
      shelf(kind).set(record.id, record)
      return record
    },
    close: () => journal.close(),
  }
}
