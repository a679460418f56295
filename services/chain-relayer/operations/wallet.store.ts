import { and, eq, gt, inArray, not, or, sql } from 'drizzle-orm'
import type { Hex } from 'viem'
import { isOneOf } from '#shared/db/columns'
import type { Db, Tx } from '#shared/db/open'
import type { Order } from './operation'
import { isOpen, type Operation, operations } from './operation.store'

// What orders move out of wallets, and by which authorizations, as the table of operations has it.

/** One at a time for a wallet: two at once must not both count on the same AUSD. */
export const lockWallet = (tx: Tx, wallet: Hex) => lockWallets(tx, [wallet])

/** The same of several, always in the same order, so that no two wait for each other. */
export const lockWallets = (tx: Tx, wallets: readonly Hex[]) =>
  tx.execute(sql`select pg_advisory_xact_lock(word) from (
    select distinct hashtext(wallet) as word from unnest(${sql.param([...wallets])}::text[]) as wallet
    order by word) as words`)

/** AUSD (10⁻⁶) that operations under way, without some of them, will still move out of each wallet. */
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

/** Which transfers of a wallet are under way, the oldest first, and by which authorization each. */
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
    .where(
      and(
        eq(operations.wallet, wallet),
        inArray(operations.kind, ['take', 'send']),
        isOpen(operations),
      ),
    )
    .orderBy(operations.createdAt)
    .limit(countMax)

/**
 * AUSD (10⁻⁶) that has left each wallet, or will, without the state at that block showing it for
 * sure: by operations that are assigned, and by those that were final in a later block.
 */
export async function unseenMicro(
  db: Db,
  wallets: readonly Hex[],
  blockNumber: bigint,
): Promise<Map<Hex, bigint>> {
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

/** Those of the orders, by their ids, whose authorization a take uses already. */
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

/** The takes by an authorization of a wallet; without one those in a transaction. */
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

/** Whether the AUSD that this authorization moved goes back, or went. */
export async function isGivenBack(
  db: Db,
  { wallet, authorizationNonce }: Pick<Operation, 'wallet' | 'authorizationNonce'>,
): Promise<boolean> {
  const rows = await db
    .select({ id: operations.id })
    .from(operations)
    .where(
      and(
        eq(operations.kind, 'giveback'),
        eq(operations.wallet, wallet),
        sql`${operations.authorizationNonce} = ${authorizationNonce}`,
      ),
    )
  return rows.length > 0
}
