import { sql } from 'drizzle-orm'
import { bigint, check, pgSchema, text, unique, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { at } from '#shared/db/columns'

/** What operators asked for, and what came of it. Both tables are added to, and never changed. */
export const schema = pgSchema('ops')

/** What an operator asked a service to do: written before the service is asked. */
export const deeds = schema.table(
  'deeds',
  {
    /** Goes to the service with the request, which keeps it beside what it did. */
    id: uuid('id').primaryKey().defaultRandom(),
    /** As it is typed, `dead-letters redrive` say. */
    verb: text('verb').notNull(),
    /** What it was done to: an id, a wallet, a name. */
    target: text('target').notNull(),
    /** Which state of the target it answers, so that the same again is the same deed. */
    cause: text('cause').notNull(),
    reason: text('reason').notNull(),
    askedBy: text('asked_by').notNull(),
    askedAt: at('asked_at').notNull().defaultNow(),
  },
  (table) => [
    unique('deeds_once').on(table.verb, table.target, table.cause),
    check('deeds_words', sql`${table.reason} <> '' and ${table.askedBy} <> ''`),
  ],
)

/** What the service said. A deed without one is unknown: whoever asks again learns it. */
export const outcomes = schema.table(
  'outcomes',
  {
    id: bigint('id', { mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
    deedId: uuid('deed_id')
      .notNull()
      .references(() => deeds.id),
    /** What was refused may be asked again; what was done is done. */
    outcome: text('outcome', { enum: ['done', 'refused'] }).notNull(),
    said: text('said').notNull(),
    toldAt: at('told_at').notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex('outcomes_done').on(table.deedId).where(sql`${table.outcome} = 'done'`),
    check('outcomes_outcome', sql`${table.outcome} in ('done', 'refused')`),
  ],
)
