import { and, eq, isNotNull, isNull, or, sql } from 'drizzle-orm'
import { index, jsonb, type PgSchema, primaryKey, text } from 'drizzle-orm/pg-core'
import { at, storableJson, storableText } from '#platform/db/columns'
import type { Database, Tx } from '#platform/db/open'

/** Failed messages, kept whole until an operator redrives or dismisses them. */
export const deadLetterTable = <S extends string>(schema: PgSchema<S>) =>
  schema.table(
    'dead_letter',
    {
      consumer: text('consumer').notNull(),
      messageId: text('message_id').notNull(),
      subject: text('subject').notNull(),
      payload: jsonb('payload').notNull(),
      reason: text('reason').notNull(),
      diedAt: at('died_at').notNull().defaultNow(),
      redriveRequestedAt: at('redrive_requested_at'),
      /** Time when it was redriven, or dismissed by an operator, as `reason` states. */
      redrivenAt: at('redriven_at'),
    },
    (table) => [
      primaryKey({ columns: [table.consumer, table.messageId] }),
      index('dead_letter_open').on(table.consumer).where(isNull(table.redrivenAt)),
    ],
  )
export type DeadLetterTable = ReturnType<typeof deadLetterTable>
export type DeadLetter = Omit<DeadLetterTable['$inferInsert'], 'diedAt' | 'redrivenAt' | 'redriveRequestedAt'>

/** Stores a dead letter. A message that fails again after a redrive reuses its row. */
export const storeDeadLetter = (tx: Tx, deadLetters: DeadLetterTable, deadLetter: DeadLetter) => {
  const reason = storableText(deadLetter.reason)
  return tx
    .insert(deadLetters)
    .values({ ...deadLetter, reason, payload: storableJson(deadLetter.payload) })
    .onConflictDoUpdate({
      target: [deadLetters.consumer, deadLetters.messageId],
      set: { reason, redriveRequestedAt: null, redrivenAt: null, diedAt: sql`now()` },
    })
}

export type Death = { readonly consumer: string; readonly messageId: string; readonly diedAt: Date }

const isDeath = (deadLetters: DeadLetterTable, { consumer, messageId, diedAt }: Death) =>
  and(eq(deadLetters.consumer, consumer), eq(deadLetters.messageId, messageId), eq(deadLetters.diedAt, diedAt))

/** Requests a redrive. Also returns true if it was requested before or is already done. */
export async function askRedrive(database: Database, deadLetters: DeadLetterTable, death: Death): Promise<boolean> {
  const asked = await database.run((db) =>
    db
      .update(deadLetters)
      .set({ redriveRequestedAt: sql`coalesce(${deadLetters.redriveRequestedAt}, now())` })
      .where(
        and(isDeath(deadLetters, death), or(isNull(deadLetters.redrivenAt), isNotNull(deadLetters.redriveRequestedAt))),
      )
      .returning({ messageId: deadLetters.messageId }),
  )
  return asked.length === 1
}

/**
 * Dismisses a dead letter. Returns false while a redrive is pending. Also returns true if it was dismissed before; the
 * first reason stays.
 */
export async function dismiss(
  database: Database,
  deadLetters: DeadLetterTable,
  { reason, ...death }: Death & { reason: string },
): Promise<boolean> {
  const { redrivenAt, redriveRequestedAt } = deadLetters
  const before = sql`${deadLetters.reason} like 'dismissed: %'`
  const why = sql`left('dismissed: ' || ${reason} || ', was: ' || ${deadLetters.reason}, 1000)`
  const dismissed = await database.run((db) =>
    db
      .update(deadLetters)
      .set({
        redrivenAt: sql`coalesce(${redrivenAt}, now())`,
        reason: sql`case when ${redrivenAt} is null then ${why} else ${deadLetters.reason} end`,
      })
      .where(and(isDeath(deadLetters, death), isNull(redriveRequestedAt), or(isNull(redrivenAt), before)))
      .returning({ messageId: deadLetters.messageId }),
  )
  return dismissed.length === 1
}

/** Counts open dead letters, any of which raises an alert. */
export async function countDead(database: Database, deadLetters: DeadLetterTable): Promise<number> {
  const rows = await database.read((db) =>
    db.select({ dead: sql<number>`count(*)::int` }).from(deadLetters).where(isNull(deadLetters.redrivenAt)),
  )
  return rows[0]!.dead
}

export type RequestedRedrive = Omit<DeadLetter, 'reason'> & {
  /** Time as stored, to the microsecond, because it identifies the request. */
  readonly requestedAt: string
  readonly isLastTry: boolean
}

/** Finds the requested redrives; `tryMs` is how long each is retried. */
export function findRedrives(
  database: Database,
  deadLetters: DeadLetterTable,
  consumer: string,
  tryMs: number,
): Promise<RequestedRedrive[]> {
  const { messageId, subject, payload, redriveRequestedAt } = deadLetters
  return database.read((db) =>
    db
      .select({
        consumer: deadLetters.consumer,
        messageId,
        subject,
        payload,
        requestedAt: sql<string>`${redriveRequestedAt}::text`,
        isLastTry: sql<boolean>`${redriveRequestedAt} < now() - ${tryMs} * interval '1 millisecond'`,
      })
      .from(deadLetters)
      .where(and(eq(deadLetters.consumer, consumer), isNotNull(redriveRequestedAt), isNull(deadLetters.redrivenAt)))
      .orderBy(deadLetters.diedAt)
      .limit(20),
  )
}

/** Claims a redrive in the transaction that does the work. Returns false if another instance did it. */
export async function claimRedrive(
  tx: Tx,
  deadLetters: DeadLetterTable,
  consumer: string,
  messageId: string,
): Promise<boolean> {
  const won = await tx
    .update(deadLetters)
    .set({ redrivenAt: sql`now()` })
    .where(
      and(
        eq(deadLetters.consumer, consumer),
        eq(deadLetters.messageId, messageId),
        isNotNull(deadLetters.redriveRequestedAt),
        // guard: a redrive is done by one instance
        isNull(deadLetters.redrivenAt),
      ),
    )
    .returning({ messageId: deadLetters.messageId })
  return won.length === 1
}

/**
 * Stores the failure of a redrive, after which the message needs a new request. Returns false if another instance was
 * faster.
 */
export async function buryAgain(
  database: Database,
  deadLetters: DeadLetterTable,
  failed: Pick<RequestedRedrive, 'consumer' | 'messageId' | 'requestedAt'> & { reason: string },
): Promise<boolean> {
  const { consumer, messageId, requestedAt, reason } = failed
  const buried = await database.run((db) =>
    db
      .update(deadLetters)
      .set({
        redriveRequestedAt: null,
        reason: storableText(reason).slice(0, 500),
        diedAt: sql`now()`,
      })
      .where(
        and(
          eq(deadLetters.consumer, consumer),
          eq(deadLetters.messageId, messageId),
          sql`${deadLetters.redriveRequestedAt} = ${requestedAt}::timestamptz`,
          isNull(deadLetters.redrivenAt),
        ),
      )
      .returning({ messageId: deadLetters.messageId }),
  )
  return buried.length === 1
}
