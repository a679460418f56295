import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import { type Hex, keccak256, toBytes } from 'viem'
import { type HandlingContext, handle } from '#platform/bus/handling'
import { openLog } from '#platform/log'
import { type Context, newProcess } from '../../../services/chain-relayer/context'
import { openKeys } from '../../../services/chain-relayer/keys/keys'
import type { Policy } from '../../../services/chain-relayer/keys/policy'
import type { HeldLane } from '../../../services/chain-relayer/lanes/held-lanes'
import { type Lane, lanes } from '../../../services/chain-relayer/lanes/lane.store'
import { orderOf } from '../../../services/chain-relayer/operations/operation'
import { insertOperations } from '../../../services/chain-relayer/operations/operation.store'
import { orderReactions } from '../../../services/chain-relayer/operations/order'
import { messaging } from '../../../services/chain-relayer/schema.store'
import { assignWaiting } from '../../../services/chain-relayer/transactions/assign'
import type { Side } from '../side'
import { newNumber, walletOf } from './payments'

const log = openLog('chain-relayer', process.env.SUITE_LOG ?? 'silent')
const ausd = '0xa05d000000000000000000000000000000000001'
const creditLine = '0xc11e000000000000000000000000000000000002'
const most = { most: 10n ** 24n, day: 10n ** 30n }
const policy: Policy = {
  chainId: 10143,
  ausd,
  creditLine,
  limits: { credit: most, repay: most, return: most, drip: most },
}
const keyOf = (name: string): Hex => keccak256(toBytes(name))
const coin = 10n ** 18n

/** An idle chain, whose lanes have enough coins. */
const node = {
  finalizedHead: async () => ({ ...block, number: 7n }),
  reader: {
    readContract: async ({ functionName }: { functionName: string }) =>
      ({ getBlockNumber: 9n, getCurrentBlockTimestamp: 1_700_000_000n })[functionName] ?? 100n * coin,
  },
}
const block = { hash: `0x${'11'.repeat(32)}`, timestamp: 1_700_000_000n, baseFeeWei: 10n ** 9n }

/** Opens an instance of the relayer on the session's connection. */
export function openRelayer(side: Side) {
  const secret = { laneKeys: [keyOf('left'), keyOf('right')], treasuryKey: keyOf('treasury') }
  const database = side.database('chain_relayer')
  const context = {
    database,
    node,
    log,
    clock: Date.now,
    poke: () => {},
    wake: () => {},
    contracts: { ausd, creditLine },
    policy,
    ...openKeys(secret, policy),
    ...newProcess(log, Date.now),
    settings: {
      chainId: 10143,
      dripWei: coin,
      dripBelowWei: coin,
      laneMinBalanceWei: 0n,
      laneRefillWei: 0n,
      gasBudgetWei: coin,
      baseFeeCapWei: 10n ** 15n,
      transfersLagBlocks: 0n,
      batchMax: 16,
      oldestAlarmMs: 600_000,
      pollMs: 0,
      rebroadcastAfterMs: 4_000,
      bumpAfterMs: 6_000,
    },
  } as unknown as Context
  const reader: HandlingContext = {
    consumer: 'chain-relayer',
    database,
    messaging,
    reactions: orderReactions,
    log,
    poke: () => {},
  }
  const heldLane = (lane: Lane, place: number): HeldLane => ({
    key: context.keys[place]!,
    lane,
    sound: true,
    open: [],
  })
  return {
    context,
    /** Assigns waiting operations to a lane that this instance believes it holds. */
    assign: (lane: Lane, place: number) => assignWaiting(context, [heldLane(lane, place)]),
    order: (refId: string, wallet: string, messageId: string) =>
      handle(reader, {
        subject: 'relay.credit',
        messageId,
        payload: { refId, wallet, ausd: '3076923', held: false },
      }),
  }
}
export type Relayer = ReturnType<typeof openRelayer>

/** Leases a lane to this instance unless another holds it. */
export async function newLane(db: PostgresJsDatabase, { context }: Relayer, place: number): Promise<Lane> {
  const address = context.keys[place]!.address.toLowerCase() as Hex
  const leasedUntil = new Date(Date.now() + 60_000)
  const own = { holder: context.holder, epoch: 1, leasedUntil, fault: null }
  const [lane] = await db
    .insert(lanes)
    .values({ address, nextNonce: 0, ...own })
    .onConflictDoUpdate({ target: lanes.address, set: own })
    .returning()
  return lane!
}

export async function newOperations(db: PostgresJsDatabase): Promise<string[]> {
  const orders = [0, 1].map(() => {
    const number = newNumber()
    const refId = `pay_${String(number).padStart(22, 'r')}`
    const payload = { refId, wallet: walletOf(number), ausd: '3076923', held: false }
    return orderOf({ kind: 'credit', payload } as never)
  })
  await insertOperations(db as never, orders)
  return orders.map(({ id }) => id)
}

/** Orders a verdict: revision 1 verifies the wallet, revision 2 withdraws that. */
export async function newVerdict(db: PostgresJsDatabase, wallet: Hex, revision: 1 | 2): Promise<string> {
  const payload = { wallet, verified: revision === 1, revision: String(revision) }
  const order = orderOf({ kind: 'verify', payload })
  await insertOperations(db as never, [order])
  return order.id
}
