import { and, eq, inArray, type SQL } from 'drizzle-orm'
import type { Static } from 'typebox'
import type { Db } from '#shared/db/open'
import { newestFirst } from '#shared/db/paging'
import type { ActivityEntry } from '#shared/messages/activity'
import type { ChainActivity } from '#shared/messages/chain'
import type { ReadRequestOf } from '#shared/messages/topic'
import type { Context } from '../context'
import { type Operation, operations } from '../operations/operation.store'

export type Entry = Static<typeof ActivityEntry>

/** Why a send failed, in words of the person who signed it. */
const reasons = new Map<string, string>([
  ['balance_too_low', 'the wallet no longer held enough AUSD'],
  ['authorization_expired', 'the authorization expired before it could be relayed'],
  ['authorization_cancelled', 'the authorization was cancelled'],
  ['authorization_used_elsewhere', 'the authorization was used for another transfer'],
  ['signature_invalid', 'the token did not accept the signature'],
  ['account_frozen', 'the issuer of AUSD has frozen the wallet or its recipient'],
  ['gas_budget_spent', 'too many transfers of this wallet failed on the chain that day'],
  ['content_refused', 'the token does not accept this recipient'],
])
const otherwise = 'the token refused the transfer'

const statuses = {
  waiting: 'sending',
  assigned: 'sending',
  settled: 'sent',
  failed: 'failed',
} as const

/** A send as its wallet's activity shows it. */
export function entryOf(operation: Operation & { kind: 'send' }): Entry {
  const { authorization, sendId } = operation.payload
  const status = statuses[operation.state]
  return {
    id: sendId,
    kind: 'send',
    status,
    inFlight: status === 'sending',
    ...(status === 'failed' && { reason: reasons.get(operation.reason ?? '') ?? otherwise }),
    ausd: authorization.value,
    to: authorization.to,
    ...(operation.txHash && { txHash: operation.txHash }),
    createdAt: operation.createdAt.toISOString(),
    updatedAt: operation.updatedAt.toISOString(),
  }
}

const inFlightMax = 100

/** The cause of a send is its id. */
const newest = newestFirst(operations.createdAt, operations.cause)

/** The sends of a wallet; takes and returns belong to the activity of their payout. */
export const readActivity = (
  { database }: Context,
  { wallet, limit, before }: ReadRequestOf<typeof ChainActivity>,
) =>
  database.read(async (db) => {
    const mine = and(eq(operations.kind, 'send'), eq(operations.wallet, wallet))
    const open = inArray(operations.state, ['waiting', 'assigned'])
    const [items, inFlight] = await Promise.all([
      findSends(db, and(mine, newest.after(before)), limit),
      findSends(db, and(mine, open), inFlightMax),
    ])
    return { items, inFlight }
  })

async function findSends(db: Db, where: SQL | undefined, rowsMax: number): Promise<Entry[]> {
  const rows = await db
    .select()
    .from(operations)
    .where(where)
    .orderBy(...newest.order)
    .limit(rowsMax)
  return rows.map((row) => entryOf(row as Parameters<typeof entryOf>[0]))
}
