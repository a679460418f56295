import { and, eq, gt, gte, inArray, lte, ne, not, or, sql } from 'drizzle-orm'
import type { Hex } from 'viem'
import { fromNow, isOneOf, midnightInJakarta } from '#platform/db/columns'
import { orFail } from '#platform/db/compiled-query'
import { type Db, sendAhead, type Tx } from '#platform/db/open'
import type { Order } from './operation'
import { isOpen, type Operation, operations } from './operation.table'

/** Locks a wallet, so that concurrent transactions cannot spend the same AUSD twice. */
export const lockWallet = (tx: Tx, wallet: Hex): void => lockWallets(tx, [wallet])

/** Locks wallets in a fixed order to avoid deadlocks. */
export const lockWallets = (tx: Tx, wallets: readonly Hex[]): void =>
  sendAhead(
    tx,
    sql`select pg_advisory_xact_lock(word) from (
      select distinct hashtext(wallet) as word from unnest(${sql.param([...wallets])}::text[]) as wallet
      order by word) as words`,
  )

/** Sums the AUSD (10⁻⁶) that open operations, except `without`, will move out of each wallet. */
export async function leavingMicro(
  db: Db,
  wallets: readonly Hex[],
  without: readonly string[] = [],
): Promise<Map<Hex, bigint>> {
  const rows = await db
    .select({
      wallet: operations.wallet,
      leaving: sql<string>`sum(${operations.leavesMicro})::text`,
    })
    .from(operations)
    .where(
      and(
        isOneOf(operations.wallet, wallets),
        inArray(operations.kind, ['take', 'send']),
        isOpen(operations),
        without.length > 0 ? not(isOneOf(operations.id, without)) : undefined,
      ),
    )
    .groupBy(operations.wallet)
  return new Map(rows.map(({ wallet, leaving }) => [wallet, BigInt(leaving)]))
}

export const findLeaving = (
  db: Db,
  wallet: Hex,
  countMax: number,
): Promise<{ id: string; nonce: Hex | null; leavesMicro: bigint }[]> =>
  db
    .select({
      id: operations.id,
      nonce: operations.authorizationNonce,
      leavesMicro: operations.leavesMicro,
    })
    .from(operations)
    .where(and(eq(operations.wallet, wallet), inArray(operations.kind, ['take', 'send']), isOpen(operations)))
    .orderBy(operations.createdAt)
    .limit(countMax)

export async function recentTakes(db: Db, wallet: Hex): Promise<Hex[]> {
  const rows = await db
    .select({ nonce: operations.authorizationNonce })
    .from(operations)
    .where(
      and(
        eq(operations.wallet, wallet),
        eq(operations.kind, 'take'),
        or(isOpen(operations), gt(operations.createdAt, sql`now() - interval '1 hour'`)),
      ),
    )
  return rows.flatMap(({ nonce }) => nonce ?? [])
}

/** A transfer that waits for longer than this, in ms, is undecided: others are signed within seconds. */
const decidedWithinMs = 10_000

/** Counts today's transfers (in Jakarta) that the wallet's code had accepted and then refused, or did not decide. */
export async function countRefusedByCode(db: Db, wallet: Hex): Promise<number> {
  const { kind, state, reason, createdAt } = operations
  const rows = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(operations)
    .where(
      and(
        eq(operations.wallet, wallet),
        inArray(kind, ['take', 'send']),
        gte(createdAt, midnightInJakarta),
        or(
          and(eq(state, 'failed'), inArray(reason, ['signature_invalid', 'reverted', 'undecided'])),
          and(eq(state, 'waiting'), lte(createdAt, fromNow(-decidedWithinMs))),
        ),
      ),
    )
  return rows[0]!.count
}

/**
 * Reads the drips of a wallet other than this refill: how many refills it got or is about to get, whether a lane has carried
 * one for the same day, and whether a drip is on its way or was ordered before. One that reverted until it failed gave
 * nothing.
 */
export async function otherDrips(db: Db, { id, wallet, createdAt, payload }: Extract<Operation, { kind: 'drip' }>) {
  const { kind, cause, lane, state } = operations
  // Orders that are stored in the same millisecond are examined together, so one of them has to be the first.
  const isBefore = sql`(${operations.createdAt}, ${operations.id}) < (${createdAt.toISOString()}::timestamptz, ${id})`
  const isFirst = or(eq(state, 'assigned'), and(isOpen(operations), isBefore))
  const isSameDay = sql`${lane} is not null and ${operations.payload} ->> 'refill' = ${payload.refill}`
  const rows = await db
    .select({
      given: sql<number>`(count(${lane}) filter (where ${ne(cause, wallet)} and ${ne(state, 'failed')}))::int`,
      isGivenToday: sql<boolean>`coalesce(bool_or(${isSameDay}), false)`,
      isAnyOpen: sql<boolean>`coalesce(bool_or(${isFirst}), false)`,
    })
    .from(operations)
    .where(and(eq(operations.wallet, wallet), eq(kind, 'drip'), ne(operations.id, id)))
  return rows[0]!
}

/** Sums the AUSD (10⁻⁶) leaving each wallet that the state at `blockNumber` may lack. */
export async function unseenMicro(db: Db, wallets: readonly Hex[], blockNumber: bigint): Promise<Map<Hex, bigint>> {
  const rows = await db
    .select({
      wallet: operations.wallet,
      unseen: sql<string>`sum(${operations.leavesMicro})::text`,
    })
    .from(operations)
    .where(
      and(
        isOneOf(operations.wallet, wallets),
        inArray(operations.kind, ['take', 'send']),
        or(
          eq(operations.state, 'assigned'),
          and(eq(operations.state, 'settled'), gt(operations.blockNumber, blockNumber)),
        ),
      ),
    )
    .groupBy(operations.wallet)
  return new Map(rows.map(({ wallet, unseen }) => [wallet, BigInt(unseen)]))
}

export async function takenAmong(db: Db, orders: readonly Order[]): Promise<Set<string>> {
  const rows = await db
    .select({ wallet: operations.wallet, nonce: operations.authorizationNonce })
    .from(operations)
    .where(
      and(
        eq(operations.kind, 'take'),
        sql`(${operations.wallet}, ${operations.authorizationNonce}) in (
          select * from unnest(${sql.param(orders.map(({ wallet }) => wallet))}::text[],
            ${sql.param(orders.map(({ authorizationNonce }) => authorizationNonce))}::text[]))`,
      ),
    )
  const taken = new Set(rows.map(({ wallet, nonce }) => `${wallet}:${nonce}`))
  const uses = ({ wallet, authorizationNonce }: Order) => `${wallet}:${authorizationNonce}`
  return new Set(orders.filter((order) => taken.has(uses(order))).map(({ id }) => id))
}

export const findTake = async (db: Db, payoutId: string): Promise<Extract<Operation, { kind: 'take' }> | undefined> => {
  const rows = await db
    .select()
    .from(operations)
    .where(and(eq(operations.kind, 'take'), eq(operations.cause, payoutId)))
  return rows[0] as Extract<Operation, { kind: 'take' }> | undefined
}

/** Finds takes by authorization nonce or, without one, by transaction. */
export const findTakesBy = (
  db: Db,
  { wallet, nonce, txHash }: { wallet: `0x${string}`; nonce: string | null; txHash: `0x${string}` },
): Promise<Extract<Operation, { kind: 'take' }>[]> =>
  db
    .select()
    .from(operations)
    .where(
      and(
        eq(operations.kind, 'take'),
        eq(operations.wallet, wallet),
        nonce ? sql`${operations.authorizationNonce} = ${nonce}` : eq(operations.txHash, txHash),
      ),
    ) as never

type Authorized = Pick<Operation, 'wallet' | 'authorizationNonce'>

export const isGivenBack = async (db: Db, order: Authorized): Promise<boolean> =>
  (await givebackOf(db, order)).length > 0

/** Fails the transaction (`isTooLate`) in the same case, together with its next statement or its commit. */
export const failIfGivenBack = (tx: Tx, order: Authorized): void =>
  sendAhead(tx, orFail(givebackOf(tx, order).getSQL(), [], 0))

const givebackOf = (db: Db, { wallet, authorizationNonce }: Authorized) =>
  db
    .select({ id: operations.id })
    .from(operations)
    .where(
      and(
        eq(operations.kind, 'giveback'),
        eq(operations.wallet, wallet),
        sql`${operations.authorizationNonce} = ${authorizationNonce}`,
      ),
    )
