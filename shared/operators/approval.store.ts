import { and, eq, sql } from 'drizzle-orm'
import { boolean, check, index, type PgSchema, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { amountColumn, at } from '#platform/db/columns'
import { lockNamed } from '#platform/db/lock'
import type { Db, Tx } from '#platform/db/open'

/** Time within which commands of one operator, or for one wallet, count together. */
const countedFor = '24 hours'

/** Returns the table of the commands that gave money away, with the operators who signed them. */
export const approvalTable = <S extends string>(schema: PgSchema<S>) =>
  schema.table(
    'approvals',
    {
      command: uuid('command').notNull(),
      /** Hash of the text that was signed. A refused command may be signed again. */
      hash: text('hash').notNull(),
      /** Hash of the request without the terms that were signed with it. Empty in rows from before this column. */
      requestHash: text('request_hash').notNull().default(''),
      by: text('by').notNull(),
      /** Second operator; null if one was enough. */
      second: text('second'),
      beneficiary: text('beneficiary').notNull(),
      /** Sum in 10⁻⁶ AUSD; null if it is unknown. */
      micro: amountColumn('micro'),
      /** False once the command is refused after all. */
      counts: boolean('counts').notNull().default(true),
      approvedAt: at('approved_at').notNull().defaultNow(),
    },
    (table) => [
      primaryKey({ columns: [table.command, table.hash] }),
      index('approvals_lately').on(table.approvedAt),
      check('approvals_pair', sql`${table.second} <> ${table.by}`),
    ],
  )
export type ApprovalTable = ReturnType<typeof approvalTable>
export type ApprovalRow = Omit<ApprovalTable['$inferInsert'], 'counts' | 'approvedAt' | 'requestHash'> & {
  readonly requestHash: string
}

/** Holds back other commands until the end of the transaction, so that two at once count each other. */
export const lockApprovals = (tx: Tx) => lockNamed(tx, 'operators approve')

/** Returns true if the command was approved and counts: a repeat of it is the same command. */
export async function isApproved(db: Db, table: ApprovalTable, command: string, hash: string): Promise<boolean> {
  const found = await db
    .select({ hash: table.hash })
    .from(table)
    .where(and(isRow(table, command, hash), table.counts))
  return found.length > 0
}

const isRow = (table: ApprovalTable, command: string, hash: string) =>
  and(eq(table.command, command), eq(table.hash, hash))

/**
 * Returns what one operator alone gave in the last day and what counts with a command: the greater of the sums by the same
 * operator and to the same beneficiary, in 10⁻⁶ AUSD.
 */
export async function sumAlone(
  db: Db,
  table: ApprovalTable,
  { command, requestHash, by, to }: Pick<ApprovalRow, 'command' | 'requestHash' | 'by'> & { readonly to: string },
): Promise<bigint> {
  // A request that was signed again, because its response was lost, counts once. Its operator chose the id of the command, so
  // the id alone does not tell that it is the same.
  const [found] = await db.execute<{ by: string; to: string }>(sql`
    select coalesce(sum(micro) filter (where "by" = ${by}), 0)::text as "by",
      coalesce(sum(micro) filter (where beneficiary = ${to}), 0)::text as "to"
    from (
      select distinct on (command, request_hash) "by", beneficiary, micro from ${table}
      where second is null and counts and not (command = ${command} and request_hash = ${requestHash})
        and approved_at > now() - ${sql.raw(`interval '${countedFor}'`)}
      order by command, request_hash, micro desc) alone`)
  const [byOperator, toBeneficiary] = [BigInt(found!.by), BigInt(found!.to)]
  return byOperator > toBeneficiary ? byOperator : toBeneficiary
}

/** A time after every earlier one of the row, so that each attempt has its own. */
const nextTime = (table: ApprovalTable) => sql`greatest(now(), ${table.approvedAt} + interval '1 millisecond')`

/** As `isApproved`, and notes another attempt: an earlier one that is refused from now on no longer takes the count back. */
export async function noteRepeat(db: Db, table: ApprovalTable, command: string, hash: string): Promise<boolean> {
  const noted = await db
    .update(table)
    .set({ approvedAt: nextTime(table) })
    .where(and(isRow(table, command, hash), table.counts))
    .returning({ hash: table.hash })
  return noted.length > 0
}

/** Records an approval, which counts from now on. Returns the time of this attempt, or undefined if it counts already. */
export async function recordApproval(
  tx: Tx,
  { table, isInsertOnly }: { readonly table: ApprovalTable; readonly isInsertOnly?: boolean },
  row: ApprovalRow,
): Promise<Date | undefined> {
  const [inserted] = await tx.insert(table).values(row).onConflictDoNothing().returning({ at: table.approvedAt })
  if (inserted) return inserted.at
  if (isInsertOnly || (await noteRepeat(tx, table, row.command, row.hash))) return undefined
  // Its service refused the command before, and may carry it out now.
  const [again] = await tx
    .update(table)
    .set({ counts: true, approvedAt: nextTime(table) })
    .where(isRow(table, row.command, row.hash))
    .returning({ at: table.approvedAt })
  return again?.at
}

/** Stops counting a command that its service refused, unless another attempt has been made since. */
export const discount = (db: Db, table: ApprovalTable, { command, hash, at }: Attempt) =>
  db
    .update(table)
    .set({ counts: false })
    .where(
      and(
        isRow(table, command, hash),
        // guard: what was given counts, whatever another attempt is told
        eq(table.approvedAt, at),
      ),
    )
export type Attempt = { readonly command: string; readonly hash: string; readonly at: Date }
