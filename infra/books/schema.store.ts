import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  pgSchema,
  primaryKey,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import { addressColumn, amountColumn, at } from '#shared/db/columns'
import { journalTable } from '#shared/ledger/journal.store'

/**
 * Everything the job of the books owns in Postgres: what it read of the chain and of the provider, as
 * they say it, and what of it does not agree with what the services wrote. Whoever else it reads, it
 * only reads.
 */
export const schema = pgSchema('books')

/** What no service books: capital put in, fees of the provider, money that nothing explains. */
export const journal = journalTable(schema)

/** Up to where a source has been read: a block of the chain, a moment of everything else. */
export const checkpoints = schema.table('checkpoints', {
  source: text('source').primaryKey(),
  block: bigint('block', { mode: 'bigint' }),
  readTo: at('read_to').notNull(),
  notedAt: at('noted_at').notNull().defaultNow(),
})

/**
 * AUSD that moved on the chain and is ours, or was: one row per log. `credit`, `repay` and `revoke`
 * are of the credit line, under a ref; the others came to the treasury or left it.
 */
export const chainMoveKinds = ['credit', 'repay', 'revoke', 'in', 'out', 'mint', 'burn'] as const
export const chainMoves = schema.table(
  'chain_moves',
  {
    txHash: text('tx_hash').notNull(),
    logIndex: integer('log_index').notNull(),
    block: bigint('block', { mode: 'bigint' }).notNull(),
    /** When its block was made. */
    movedAt: at('moved_at').notNull(),
    kind: text('kind', { enum: chainMoveKinds }).notNull(),
    /**
     * What names it: the ref of the credit line; of a signed transfer `authorizer:nonce`, in lower
     * case; null: a plain transfer.
     */
    key: text('key'),
    /** The account of the credit line; or the other side of a transfer with the treasury. */
    wallet: addressColumn('wallet').notNull(),
    ausdMicro: amountColumn('ausd_micro').notNull(),
    /** Of a credit or a repayment: it could be taken back until its hold ended. */
    held: boolean('held').notNull().default(false),
  },
  (table) => [
    primaryKey({ columns: [table.txHash, table.logIndex] }),
    index('chain_moves_key').on(table.key),
    index('chain_moves_block').on(table.block),
  ],
)

/** A row of the provider's list of transactions as it was last read, by its own id. */
export const providerMoves = schema.table(
  'provider_moves',
  {
    account: text('account').notNull(),
    transactionId: text('transaction_id').notNull(),
    type: text('type').notNull(),
    status: text('status').notNull(),
    /** Ours, without the suffix that the provider gives a payment's; null: none. */
    reference: text('reference'),
    productId: text('product_id'),
    currency: text('currency'),
    /** In the smallest unit; null when the list does not say it exactly. */
    amountMinor: amountColumn('amount_minor'),
    /** `in` or `out`; null when the list does not say. */
    cashflow: text('cashflow'),
    /** What the provider kept for moving it, taxes included; null: it does not say. */
    feeMinor: amountColumn('fee_minor'),
    createdAt: at('created_at'),
    changedAt: at('changed_at'),
    readAt: at('read_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.account, table.transactionId] }),
    index('provider_moves_reference').on(table.reference),
    index('provider_moves_product').on(table.productId),
    index('provider_moves_read').on(table.readAt),
  ],
)

/** What the outside says there is now: AUSD of the treasury, coin of a lane, money at the provider. */
export const balances = schema.table(
  'balances',
  {
    /** `treasury`, `credit_line`, `lane:0x…`, `provider_id`, `provider_my`. */
    place: text('place').notNull(),
    asset: text('asset').notNull(),
    amount: amountColumn('amount').notNull(),
    /** Of the chain: the final block it was read at; a lane has sent `nonce` transactions by then. */
    block: bigint('block', { mode: 'bigint' }),
    nonce: integer('nonce'),
    readAt: at('read_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.place, table.asset] })],
)

/** By which words the outside names an item of ours: refs of its payment, keys of its transfers. */
export const nameKinds = ['ref', 'take', 'return', 'giveback'] as const
export const names = schema.table(
  'names',
  {
    key: text('key').primaryKey(),
    kind: text('kind', { enum: nameKinds }).notNull(),
    item: text('item').notNull(),
    /** Of a payment: 0, and one more for each remainder. */
    part: integer('part').notNull().default(0),
  },
  (table) => [index('names_item').on(table.item)],
)

/**
 * What the books came to at the checkpoint `rows`, so that a balance needs only the lines since: of
 * each journal (its schema) by account up to the moment, of the `chain` by kind of move up to the block.
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

/** What does not agree, item by item: open until a later reading does not find it any more. */
export const breaks = schema.table(
  'breaks',
  {
    id: bigint('id', { mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
    /** The rule that found it, by its name in `rules/`. */
    rule: text('rule').notNull(),
    /** Of what: the id of a payment or a cash-out, a transaction, an account. */
    item: text('item').notNull(),
    asset: text('asset').notNull(),
    /** By how much it does not agree, in the asset's smallest unit; 0: it is not a matter of a sum. */
    amount: amountColumn('amount').notNull(),
    about: text('about').notNull(),
    foundAt: at('found_at').notNull().defaultNow(),
    seenAt: at('seen_at').notNull().defaultNow(),
    closedAt: at('closed_at'),
    /** A person's word: who looks after it, why it is as it is, and until when that holds. */
    owner: text('owner'),
    reason: text('reason'),
    restsUntil: at('rests_until'),
  },
  (table) => [
    uniqueIndex('breaks_open')
      .on(table.rule, table.item, table.asset)
      .where(sql`closed_at is null`),
    index('breaks_item').on(table.item),
    check('breaks_owner', sql`(owner is null) = (reason is null)`),
  ],
)

/** One reconciliation: what it looked at, and what came out. */
export const runs = schema.table(
  'runs',
  {
    id: bigint('id', { mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
    startedAt: at('started_at').notNull(),
    endedAt: at('ended_at').notNull(),
    /** From the beginning, or from the checkpoint. */
    whole: boolean('whole').notNull(),
    items: integer('items').notNull(),
    open: integer('open').notNull(),
  },
  (table) => [index('runs_ended').on(table.endedAt)],
)
