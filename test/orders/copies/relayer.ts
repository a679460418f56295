import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import { type Hex, keccak256, toBytes } from 'viem'
import { handle } from '#platform/bus/handling'
import { openLog } from '#platform/log'
import { defaultsOf } from '#test/support/settings'
import { assemble, type Means, messagesOf } from '../../../services/chain-relayer/assemble'
import { fields } from '../../../services/chain-relayer/config'
import { openKeys } from '../../../services/chain-relayer/keys/keys'
import { policyOf } from '../../../services/chain-relayer/keys/policy'
import type { HeldLane } from '../../../services/chain-relayer/lanes/held-lanes'
import { type Lane, lanes } from '../../../services/chain-relayer/lanes/lane.store'
import { orderOf } from '../../../services/chain-relayer/operations/operation'
import { insertOperations } from '../../../services/chain-relayer/operations/operation.store'
import { assignWaiting } from '../../../services/chain-relayer/transactions/assign'
import type { Side } from '../side'
import { newNumber, walletOf } from './payments'

const log = openLog('chain-relayer', process.env.SUITE_LOG ?? 'silent')
const config = defaultsOf('chain-relayer', fields)
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
  const means = {
    database,
    node,
    log,
    clock: Date.now,
    poke: () => {},
    wake: () => {},
    contracts: { ausd: config.ausdAddress, creditLine: config.creditLineAddress },
    ...openKeys(secret, policyOf(config)),
  }
  const context = assemble(config, means as unknown as Means)
  const reader = messagesOf(context)
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
        isFresh: true,
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
  await db.transaction(async (tx) => insertOperations(tx, orders))
  return orders.map(({ id }) => id)
}

/** Orders a verdict: revision 1 verifies the wallet, revision 2 withdraws that. */
export async function newVerdict(db: PostgresJsDatabase, wallet: Hex, revision: 1 | 2): Promise<string> {
  const payload = { wallet, verified: revision === 1, revision: String(revision) }
  const order = orderOf({ kind: 'verify', payload })
  await db.transaction(async (tx) => insertOperations(tx, [order]))
  return order.id
}
