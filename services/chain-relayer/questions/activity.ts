import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import { unionAll } from 'drizzle-orm/pg-core'
import { cursorValues, newestFirst } from '#platform/db/paging'
import { prepared } from '#platform/db/prepared'
import { sentenceOf, type TextRef } from '#shared/language/catalogue'
import type { ActivityEntry, ActivityReason } from '#shared/messages/activity'
import type { ChainActivity, ChainItem } from '#shared/messages/chain'
import type { ReadRequestOf } from '#shared/messages/topic'
import type { Context } from '../context'
import { isOpen, type Operation, operations } from '../operations/operation.table'

const reasons = [
  'balance_too_low',
  'authorization_expired',
  'authorization_cancelled',
  'authorization_used_elsewhere',
  'signature_invalid',
  'account_frozen',
  'gas_budget_spent',
  'content_refused',
  'transfer_refused',
] as const satisfies readonly ActivityReason[]
type Reason = (typeof reasons)[number]

const reasonFrom = (word: string | null): Reason => reasons.find((reason) => reason === word) ?? 'transfer_refused'

const statuses = {
  waiting: 'sending',
  assigned: 'sending',
  settled: 'sent',
  failed: 'failed',
} as const

export function entryOf(operation: Operation & { kind: 'send' }): ActivityEntry {
  const { authorization, sendId } = operation.payload
  const status = statuses[operation.state]
  const reason = status === 'failed' ? reasonFrom(operation.reason) : undefined
  const why: readonly TextRef[] = reason ? [{ code: `send.reason.${reason}` }] : []
  return {
    id: sendId,
    kind: 'send',
    status,
    inFlight: status === 'sending',
    ...(reason && { reason }),
    ...sentenceOf([...why, { code: `send.${status}` }]),
    nextAction: status === 'sending' ? 'wait' : null,
    ausd: authorization.value,
    to: authorization.to,
    ...(operation.txHash && { txHash: operation.txHash }),
    createdAt: operation.createdAt.toISOString(),
    updatedAt: operation.updatedAt.toISOString(),
  }
}

const inFlightMax = 100

const newest = newestFirst(operations.createdAt, operations.cause)

const mine = and(eq(operations.kind, 'send'), eq(operations.wallet, sql.placeholder('wallet')))

const activity = prepared((db) => {
  const rows = (isOfPage: boolean) =>
    db
      .select({
        ...getTableColumns(operations),
        isOfPage: sql<boolean>`${sql.raw(String(isOfPage))}`,
      })
      .from(operations)
  const page = rows(true)
    .where(and(mine, newest.afterCursor))
    .orderBy(...newest.order)
    .limit(sql.placeholder('limit'))
  const open = rows(false)
    .where(and(mine, isOpen(operations)))
    .orderBy(...newest.order)
    .limit(inFlightMax)
  return unionAll(page, open).prepare('activity')
})

/**
 * Reads the activity of a wallet. Takes and returns are left out, because they belong to the activity of their payout.
 */
export async function readActivity(
  { database }: Context,
  { wallet, limit, before }: ReadRequestOf<typeof ChainActivity>,
): Promise<{ items: ActivityEntry[]; inFlight: ActivityEntry[] }> {
  const values = { wallet, limit, ...cursorValues(before) }
  const rows = await database.read((db) => activity(db).execute(values))
  const of = (isOfPage: boolean) =>
    rows.filter((row) => row.isOfPage === isOfPage).map((row) => entryOf(row as Parameters<typeof entryOf>[0]))
  return { items: of(true), inFlight: of(false) }
}

const item = prepared((db) =>
  db
    .select()
    .from(operations)
    .where(and(mine, eq(operations.cause, sql.placeholder('id'))))
    .prepare('activity_item'),
)

export async function readItem(
  { database }: Context,
  asked: ReadRequestOf<typeof ChainItem>,
): Promise<ActivityEntry | null> {
  const [row] = await database.read((db) => item(db).execute(asked))
  return row ? entryOf(row as Parameters<typeof entryOf>[0]) : null
}
