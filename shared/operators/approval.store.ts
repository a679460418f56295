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
export type ApprovalRow = Omit<ApprovalTable['$inferInsert'], 'counts' | 'approvedAt'>

/** Holds back other commands until the end of the transaction, so that two at once count each other. */
export const lockApprovals = (tx: Tx) => lockNamed(tx, 'operators approve')

export async function isApproved(db: Db, table: ApprovalTable, command: string, hash: string): Promise<boolean> {
  const found = await db
    .select({ hash: table.hash })
    .from(table)
    .where(isRow(table, command, hash))
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
  { command, by, to }: { command: string; by: string; to: string },
): Promise<bigint> {
  // A command that was signed again, because its response was lost, counts once.
  const [found] = await db.execute<{ by: string; to: string }>(sql`
    select coalesce(sum(micro) filter (where "by" = ${by}), 0)::text as "by",
      coalesce(sum(micro) filter (where beneficiary = ${to}), 0)::text as "to"
    from (
      select distinct on (command) "by", beneficiary, micro from ${table}
      where second is null and counts and command <> ${command}
        and approved_at > now() - ${sql.raw(`interval '${countedFor}'`)}
      order by command, micro desc) alone`)
  const [byOperator, toBeneficiary] = [BigInt(found!.by), BigInt(found!.to)]
  return byOperator > toBeneficiary ? byOperator : toBeneficiary
}

export const insertApproval = (tx: Tx, table: ApprovalTable, row: ApprovalRow) =>
  tx.insert(table).values(row).onConflictDoNothing()

/** Stops counting a command that its service refused. */
export const discount = (db: Db, table: ApprovalTable, command: string, hash: string) =>
  db
    .update(table)
    .set({ counts: false })
    .where(isRow(table, command, hash))
