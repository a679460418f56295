import { and, eq } from 'drizzle-orm'
import { integer, primaryKey, text } from 'drizzle-orm/pg-core'
import { addressColumn, at } from '#platform/db/columns'
import { insertNew } from '#platform/db/insert-new'
import type { Db, Tx } from '#platform/db/open'
import { type ReminderKind, reminderKinds } from '#shared/messages/credit'
import { schema } from '../schema.store'

/** Sent reminders; rows are kept permanently. */
export const reminders = schema.table(
  'reminders',
  {
    wallet: addressColumn('wallet').notNull(),
    cycle: integer('cycle').notNull(),
    kind: text('kind', { enum: reminderKinds }).notNull(),
    createdAt: at('created_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.wallet, table.cycle, table.kind] })],
)

export async function findSent(db: Db, wallet: `0x${string}`, cycle: number): Promise<ReadonlySet<ReminderKind>> {
  const rows = await db
    .select({ kind: reminders.kind })
    .from(reminders)
    .where(and(eq(reminders.wallet, wallet), eq(reminders.cycle, cycle)))
  return new Set(rows.map(({ kind }) => kind))
}

/** Records a reminder. Returns false if any instance recorded it before. */
export const insertReminder = (
  tx: Tx,
  reminder: { wallet: `0x${string}`; cycle: number; kind: ReminderKind },
): Promise<boolean> => insertNew(tx, reminders, reminder)
