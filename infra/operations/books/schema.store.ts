import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { bigint, boolean, check, index, integer, pgSchema, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { addressColumn, amountColumn, at } from '#platform/db/columns'
import { journalTable } from '#shared/ledger/journal.store'

export const schema = pgSchema('books')

/** Postings that no service makes: capital, fees of the provider, and unexplained money. */
export const journal = journalTable(schema)

/**
 * Seals of the journals. Each has the hash of the lines that the transactions from `fromTransaction` to before `toTransaction`
 * booked, and of the seal before. Rows never change.
 */
export const seals = schema.table(
  'seals',
  {
    /** Schema of the journal. */
    journal: text('journal').notNull(),
    /** 1, 2, 3 … in each journal. */
    number: integer('number').notNull(),
    fromTransaction: bigint('from_transaction', { mode: 'bigint' }).notNull(),
    toTransaction: bigint('to_transaction', { mode: 'bigint' }).notNull(),
    lines: integer('lines').notNull(),
    hash: text('hash').notNull(),
    sealedAt: at('sealed_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.journal, table.number] })],
)

/** How far each source was read. The position is a block for the chain, and a time for all others. */
export const checkpoints = schema.table('checkpoints', {
  source: text('source').primaryKey(),
  block: bigint('block', { mode: 'bigint' }),
  readTo: at('read_to').notNull(),
  notedAt: at('noted_at').notNull().defaultNow(),
})

/**
 * Kinds of movements, one row per log. `credit`, `repay` and `revoke` are events of the credit line with a ref; the
 * others are transfers to or from the treasury.
 */
export const chainMoveKinds = ['credit', 'repay', 'revoke', 'in', 'out', 'mint', 'burn'] as const
const intoKinds: readonly (typeof chainMoveKinds)[number][] = ['in', 'mint', 'revoke']

/** Returns true if a movement raises the AUSD of the treasury; every other one lowers it. */
export const isInto = (kind: (typeof chainMoveKinds)[number]): boolean => intoKinds.includes(kind)

/** Returns the SQL of a movement's AUSD, which is negative if it lowers that of the treasury. `of` is the alias of its table. */
export const signedMicro = (of = 'chain_moves'): string =>
  `case when ${of}.kind in (${intoKinds.map((kind) => `'${kind}'`).join(', ')}) then ${of}.ausd_micro else -${of}.ausd_micro end`

export const chainMoves = schema.table(
  'chain_moves',
  {
    txHash: text('tx_hash').notNull(),
    logIndex: integer('log_index').notNull(),
    block: bigint('block', { mode: 'bigint' }).notNull(),
    movedAt: at('moved_at').notNull(),
    kind: text('kind', { enum: chainMoveKinds }).notNull(),
    /** The ref, or `authorizer:nonce:amount` of a signed transfer, in lower case. Null for an unsigned transfer. */
    key: text('key'),
    /** Account of the credit line, or the treasury's counterparty. */
    wallet: addressColumn('wallet').notNull(),
    ausdMicro: amountColumn('ausd_micro').notNull(),
    held: boolean('held').notNull().default(false),
  },
  (table) => [
    primaryKey({ columns: [table.txHash, table.logIndex] }),
    index('chain_moves_key').on(table.key),
    index('chain_moves_block').on(table.block),
  ],
)

/** Selects payments that were not settled when they were first read. The partial index uses the same expression. */
export const isUnsettledOnce = ({ type, unsettledReadAt }: Record<'type' | 'unsettledReadAt', SQLWrapper>): SQL =>
  sql`${type} = 'payment' and ${unsettledReadAt} is not null`

export const providerMoves = schema.table(
  'provider_moves',
  {
    account: text('account').notNull(),
    transactionId: text('transaction_id').notNull(),
    type: text('type').notNull(),
    status: text('status').notNull(),
    /** Our reference, without the suffix that the provider adds for a payment. Null if the row has none. */
    reference: text('reference'),
    productId: text('product_id'),
    currency: text('currency'),
    /** Amount in minor units. Null if the list has no exact amount. */
    amountMinor: amountColumn('amount_minor'),
    /** Direction, `in` or `out`. Null if the list has none. */
    cashflow: text('cashflow'),
    /** Fee including tax, in minor units. Null if not reported. */
    feeMinor: amountColumn('fee_minor'),
    /**
     * Time at which the row was first read as not settled, and the time of settlement that the provider expected then. Both
     * stay, like `settledReadAt`, so that a report of a past day does not change.
     */
    unsettledReadAt: at('unsettled_read_at'),
    settlesAt: at('settles_at'),
    /** Time at which the row was first read as settled. */
    settledReadAt: at('settled_read_at'),
    createdAt: at('created_at'),
    changedAt: at('changed_at'),
    readAt: at('read_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.account, table.transactionId] }),
    index('provider_moves_unsettled').on(table.settledReadAt).where(isUnsettledOnce(table)),
    index('provider_moves_reference').on(table.reference),
    index('provider_moves_product').on(table.productId),
    index('provider_moves_read').on(table.readAt),
  ],
)

export const balances = schema.table(
  'balances',
  {
    /**
     * Holder of the balance: `treasury`, `credit_line`, `lane:0x…`, `provider_id` or `provider_my`. The amount of
     * `credit_line_owes` is the debt of the contract at that block: all collateral, and the pool.
     */
    place: text('place').notNull(),
    asset: text('asset').notNull(),
    amount: amountColumn('amount').notNull(),
    /** Final block of the reading, and number of a lane's transactions by then. Both are null for the provider. */
    block: bigint('block', { mode: 'bigint' }),
    nonce: integer('nonce'),
    readAt: at('read_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.place, table.asset] })],
)

/** Keys by which chain movements refer to our items. */
export const nameKinds = ['ref', 'take', 'return', 'giveback'] as const
export const names = schema.table(
  'names',
  {
    key: text('key').primaryKey(),
    kind: text('kind', { enum: nameKinds }).notNull(),
    item: text('item').notNull(),
    /** 0 for the first ref, and one more each time the payment was applied again. */
    refSequence: integer('ref_sequence').notNull().default(0),
  },
  (table) => [index('names_item').on(table.item)],
)

/**
 * Totals at the checkpoint `rows`, so that a balance needs only later lines. They cover each journal (by schema) up to
 * the checkpoint's time, and the `chain` up to its block.
 */
export const totals = schema.table(
  'totals',
  {
    source: text('source').notNull(),
    account: text('account').notNull(),
    asset: text('asset').notNull(),
    amount: amountColumn('amount').notNull(),
  },
  (table) => [primaryKey({ columns: [table.source, table.account, table.asset] })],
)

/** Breaks that comparisons found. The first run that does not find a break again closes it. */
export const breaks = schema.table(
  'breaks',
  {
    id: bigint('id', { mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
    rule: text('rule').notNull(),
    /** Id of a payment or cash-out, a transaction, or an account. */
    item: text('item').notNull(),
    asset: text('asset').notNull(),
    /** Amount in the asset's minor unit; 0 if the break is not about an amount. */
    amount: amountColumn('amount').notNull(),
    about: text('about').notNull(),
    foundAt: at('found_at').notNull().defaultNow(),
    seenAt: at('seen_at').notNull().defaultNow(),
    closedAt: at('closed_at'),
    /** Operator's explanation. It mutes the alert until `rests_until`. */
    owner: text('owner'),
    reason: text('reason'),
    restsUntil: at('rests_until'),
    /** Amount that was explained; a larger one, or one of the other sign, is muted no longer than its grace period. */
    explainedAmount: amountColumn('explained_amount'),
    /** Time since which the amount is beyond the explained one. */
    exceededAt: at('exceeded_at'),
  },
  (table) => [
    uniqueIndex('breaks_open').on(table.rule, table.item, table.asset).where(sql`closed_at is null`),
    index('breaks_item').on(table.item),
    check('breaks_owner', sql`(owner is null) = (reason is null)`),
  ],
)

/** One row that is written again and again, to prove that Postgres takes writes. */
export const heartbeats = schema.table('heartbeats', {
  name: text('name').primaryKey(),
  beatAt: at('beat_at').notNull(),
})

export const runs = schema.table(
  'runs',
  {
    id: bigint('id', { mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
    startedAt: at('started_at').notNull(),
    endedAt: at('ended_at').notNull(),
    /** True if the run compared everything from the beginning. */
    whole: boolean('whole').notNull(),
    items: integer('items').notNull(),
    open: integer('open').notNull(),
  },
  (table) => [index('runs_ended').on(table.endedAt)],
)
