import type { Db } from '#platform/db/open'
import type { Attempt, Lane } from '../../../services/chain-relayer/lanes/lane.store'
import type { Operation } from '../../../services/chain-relayer/operations/operation.table'
import type { Reversal, StoredReport, WalletRow } from '../../../services/payments/losses/refund.store'
import type { PaymentRow } from '../../../services/payments/payment.table'
import type {
  RefundOrderRow,
  ResolutionRow,
  returnedTransfers,
} from '../../../services/payments/review/resolution.store'
import type { Cashout } from '../../../services/payouts/cashout.table'
import { dueIn, type Indices, Table } from './table'

export type AnomalyRow = {
  readonly kind: string
  readonly object: string
  readonly noticedAt: Date
  readonly paymentId?: string | null
  readonly currency?: string | null
  readonly amountMinor?: bigint | null
}
type LaneStore = typeof import('../../../services/chain-relayer/lanes/lane.store')
export type TransactionRow = LaneStore['transactions']['$inferSelect']
export type BurntRow = { readonly wallet: string; readonly wei: bigint }
export type InboxRow = { readonly attempts: number; readonly done: boolean }
export type OutboxRow = {
  readonly id: string
  readonly subject: string
  readonly payload: unknown
  readonly leasedUntil: number
  readonly isPublished: boolean
}
export type DeadLetterRow = {
  readonly consumer: string
  readonly messageId: string
  readonly subject: string
  readonly payload: unknown
  readonly reason: string
  readonly redriveRequestedAt: string | null
  readonly isRedriven: boolean
}
export type ListingRow = { readonly dueAt: number; readonly readAt: Date | null }

// Rows are found by the keys of the indices in Postgres.

const some = (text: string | null): string | undefined => text ?? undefined

const ofPayments = {
  quote: ({ quoteId }: PaymentRow) => quoteId,
  wallet: ({ wallet }: PaymentRow) => wallet,
  checkout: ({ checkoutId }: PaymentRow) => some(checkoutId),
  charge: ({ providerPaymentId }: PaymentRow) => some(providerPaymentId),
  request: ({ paymentRequestId }: PaymentRow) => some(paymentRequestId),
  due: ({ nextCheckAt }: PaymentRow) => dueIn(nextCheckAt),
}
const ofRefunds = {
  due: ({ nextCheckAt }: StoredReport) => dueIn(nextCheckAt),
  charge: ({ providerPaymentId }: StoredReport) => providerPaymentId,
  payment: ({ paymentId }: StoredReport) => paymentId,
}
const ofReview = { payment: ({ paymentId }: { paymentId: string }) => paymentId }
const ofReversals = { wallet: ({ wallet }: Reversal) => wallet }
const ofWallets = {
  open: ({ retryAt }: WalletRow) => (retryAt === null ? undefined : 'open'),
}
const ofCashouts = {
  quote: ({ quoteId }: Cashout) => quoteId,
  wallet: ({ wallet }: Cashout) => wallet,
  authorization: ({ authorizer, authorizationNonce }: Cashout) => `${authorizer} ${authorizationNonce}`,
  payout: ({ providerPayoutId }: Cashout) => some(providerPayoutId),
  due: ({ nextCheckAt }: Cashout) => dueIn(nextCheckAt),
}
const ofOperations = {
  state: ({ state }: Operation) => state,
  cause: ({ cause }: Operation) => cause,
  wallet: ({ wallet }: Operation) => wallet,
  watched: ({ watchAt }: Operation) => dueIn(watchAt),
}
const ofTransactions = {
  open: ({ lane, outcome }: TransactionRow) => (outcome === null ? lane : undefined),
}
const ofAttempts = { nonce: ({ lane, nonce }: Attempt) => `${lane} ${nonce}` }
const ofBurnt = { wallet: ({ wallet }: BurntRow) => wallet }
const ofOutbox = {
  left: ({ isPublished }: OutboxRow) => (isPublished ? undefined : 'left'),
}

const none: readonly never[] = []
type ReturnedTransfer = typeof returnedTransfers.$inferSelect
type AnyTable = Table<unknown, string>

/** Rows of all services. Transactions are sequential and atomic; concurrent ones are tested on a real Postgres. */
export class Rows {
  undo: (() => void)[] | undefined
  /** Announcements of the open transaction, if its process listens. */
  notes: unknown[] | undefined
  #tables: AnyTable[] = []

  readonly payments = this.#table<PaymentRow, keyof typeof ofPayments>(ofPayments)
  readonly refunds = this.#table<StoredReport, keyof typeof ofRefunds>(ofRefunds)
  readonly reversals = this.#table<Reversal, keyof typeof ofReversals>(ofReversals)
  readonly wallets = this.#table<WalletRow, keyof typeof ofWallets>(ofWallets)
  readonly cashouts = this.#table<Cashout, keyof typeof ofCashouts>(ofCashouts)
  readonly operations = this.#table<Operation, keyof typeof ofOperations>(ofOperations)
  readonly lanes = this.#table<Lane>({})
  readonly transactions = this.#table<TransactionRow, keyof typeof ofTransactions>(ofTransactions)
  readonly attempts = this.#table<Attempt, keyof typeof ofAttempts>(ofAttempts)
  readonly burnt = this.#table<BurntRow, keyof typeof ofBurnt>(ofBurnt)
  readonly resolutions = this.#table<ResolutionRow, keyof typeof ofReview>(ofReview)
  readonly refundOrders = this.#table<RefundOrderRow, keyof typeof ofReview>(ofReview)
  readonly returnedTransfers = this.#table<ReturnedTransfer>({})
  readonly anomalies = this.#table<AnomalyRow>({})
  #named = new Map<object, AnyTable>()

  constructor(
    readonly clock: () => number,
    readonly saw: (sight: string) => void = () => {},
  ) {}

  #table<Row, Name extends string = never>(indices: Indices<Row, Name>): Table<Row, Name> {
    const table = new Table<Row, Name>(this, indices)
    this.#tables.push(table as unknown as AnyTable)
    return table
  }

  /** Ids that a webhook reported. */
  readonly told = new Set<string>()

  /** Call sites of statements without a stand-in. */
  readonly unknown = new Set<string>()
  readonly select = () => this.#refuse()
  readonly insert = () => this.#refuse()
  readonly update = () => this.#refuse()
  readonly delete = () => this.#refuse()
  readonly execute = () => this.#refuse()

  #refuse(): never {
    const error = new Error('the simulation has no stand-in for this statement')
    const [, , , place = ''] = error.stack?.split('\n') ?? []
    this.unknown.add(place.trim())
    throw error
  }

  /** Returns a table that several services have. */
  of<Row>(table: object): Table<Row> {
    return this.#of<Row, never>(table, {})
  }

  outbox(table: object): Table<OutboxRow, keyof typeof ofOutbox> {
    return this.#of(table, ofOutbox)
  }

  #of<Row, Name extends string>(table: object, indices: Indices<Row, Name>): Table<Row, Name> {
    let known = this.#named.get(table)
    if (!known) {
      known = this.#table(indices) as unknown as AnyTable
      this.#named.set(table, known)
    }
    return known as unknown as Table<Row, Name>
  }

  now(): Date {
    return new Date(this.clock())
  }

  snapshot(): (readonly [string, unknown][])[] {
    return this.#tables.map((table) => table.entries())
  }
  load(snapshot: readonly (readonly [string, unknown][])[]): void {
    for (const [at, table] of this.#tables.entries()) table.load(snapshot[at] ?? none)
  }
}

export const rowsOf = (handle: Db): Rows => handle as unknown as Rows
