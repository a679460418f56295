import { sql } from 'drizzle-orm'
import { bigint, check, jsonb, pgSchema, text, unique, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { at } from '#platform/db/columns'
import { approvalTable } from '#shared/operators/approval.store'

/** Schema of the audit log. All of its tables are append-only. */
export const schema = pgSchema('ops')

/** Operators' commands. Each is written before the service is asked. */
export const commands = schema.table(
  'commands',
  {
    /** Id that is sent with the request. The service stores it together with its change. */
    id: uuid('id').primaryKey().defaultRandom(),
    verb: text('verb').notNull(),
    target: text('target').notNull(),
    cause: text('cause').notNull(),
    reason: text('reason').notNull(),
    askedBy: text('asked_by').notNull(),
    askedAt: at('asked_at').notNull().defaultNow(),
  },
  (table) => [
    unique('commands_once').on(table.verb, table.target, table.cause),
    check('commands_words', sql`${table.reason} <> '' and ${table.askedBy} <> ''`),
  ],
)

/**
 * Commands above the sum that one operator signed, for another to approve. Each is closed by an outcome or by its end; the
 * latest one of a command counts.
 */
export const proposals = schema.table('proposals', {
  id: bigint('id', { mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
  commandId: uuid('command_id')
    .notNull()
    .references(() => commands.id),
  subject: text('subject').notNull(),
  /** Request as it was signed. */
  request: jsonb('request').notNull(),
  terms: jsonb('terms').notNull(),
  /** Arguments and options of the command line. */
  line: jsonb('line').notNull(),
  signedBy: text('signed_by').notNull(),
  signature: text('signature').notNull(),
  until: at('until').notNull(),
  proposedAt: at('proposed_at').notNull().defaultNow(),
})

/** Approvals of the commands that operators carry out themselves, without a service. */
export const approvals = approvalTable(schema)

/**
 * Outcomes of the requests of a command. A refused or unsent request had no effect; an unknown one has no response and may have
 * taken effect. A done command is not sent again.
 */
const recordedOutcomes = ['done', 'refused', 'unsent', 'unknown'] as const

export type RecordedOutcome = (typeof recordedOutcomes)[number]

/** Outcomes of the commands. Without one, the first request is unknown until the command is repeated. */
export const outcomes = schema.table(
  'outcomes',
  {
    id: bigint('id', { mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
    commandId: uuid('command_id')
      .notNull()
      .references(() => commands.id),
    outcome: text('outcome', { enum: recordedOutcomes }).notNull(),
    said: text('said').notNull(),
    /** Operator who asked for this outcome, and why: not always the first one. Null in rows from before these columns. */
    askedBy: text('asked_by'),
    reason: text('reason'),
    recordedAt: at('recorded_at').notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex('outcomes_done').on(table.commandId).where(sql`${table.outcome} = 'done'`),
    check('outcomes_outcome', sql`${table.outcome} in ('done', 'refused', 'unsent', 'unknown')`),
  ],
)
