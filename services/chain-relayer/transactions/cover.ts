import type { Hex } from 'viem'
import type { Tx } from '#shared/db/open'
import type { Context } from '../context'
import type { Call, Fees } from '../keys/keys'
import type { OpenTransaction } from '../lanes/lane.store'
import { atStakeWei, burntToday, insertBurnt } from '../operations/burnt.store'
import { payerOf } from '../operations/operation'
import type { Operation } from '../operations/operation.store'
import { lockWallets, unseenMicro } from '../operations/wallet.store'
import { atLeast, atMost } from './transaction'

// Anybody may sign any number of transfers over one balance. Each passes its simulation, one of
// them moves the money, and the others would revert at our cost. So nothing gets a nonce that its
// wallet could not pay beside what it has in flight: it waits until that is final, and is examined
// anew.

/** AUSD (10⁻⁶) that wallets hold, as the state at one block shows it. */
export type Funds = {
  readonly ausdMicro: ReadonlyMap<Hex, bigint>
  readonly blockNumber: bigint
}

/**
 * What the wallet of a take or a send holds at the newest block; undefined when it pays nothing.
 */
export async function fundsFor(
  context: Context,
  { wallet, leavesMicro }: Operation,
): Promise<Funds | undefined> {
  if (leavesMicro === 0n) return undefined
  const { balance, blockNumber } = await context.account(wallet)
  const ausdMicro = new Map([[wallet, BigInt(balance.ausd)]])
  return { ausdMicro, blockNumber: BigInt(blockNumber) }
}

// Code of the user's decides whether such a transfer reverts, and it can tell a transaction from
// what it was asked before. No more of them are in flight than the day's budget of their wallet
// would pay for if all reverted; one may always go, so that each gets its turn.

/**
 * Whether another transfer of a wallet may go: not before those in flight are final, or not today.
 */
export function budgetFor(wei: {
  readonly budget: bigint
  readonly burnt: bigint
  readonly atStake: bigint
  readonly cost: bigint
}): 'room' | 'later' | 'spent' {
  if (wei.burnt >= wei.budget) return 'spent'
  const isAlone = wei.atStake === 0n
  return isAlone || wei.burnt + wei.atStake + wei.cost <= wei.budget ? 'room' : 'later'
}

/** Whether an operation may go beside what is in flight: not before that is final, or not today. */
export type Cover = ReturnType<typeof budgetFor>

/**
 * What may go of these operations of users, in their order, each of which could burn so much gas by
 * reverting. Holds until the transaction ends: copies of the service count a wallet's operations
 * one after the other.
 */
export async function coverOf(
  tx: Tx,
  { settings }: Pick<Context, 'settings'>,
  operations: readonly Operation[],
  { funds, costEachWei: cost }: { readonly funds: Funds; readonly costEachWei: bigint },
): Promise<ReadonlyMap<Operation, Cover>> {
  const wallets = [...new Set(operations.map(({ wallet }) => wallet))]
  await lockWallets(tx, wallets)
  const [unseen, burnt, atStake] = await Promise.all([
    unseenMicro(tx, wallets, funds.blockNumber),
    burntToday(tx, wallets),
    atStakeWei(tx, wallets),
  ])
  const covers = new Map<Operation, Cover>()
  for (const operation of operations) {
    const { wallet, leavesMicro } = operation
    const leaving = (unseen.get(wallet) ?? 0n) + leavesMicro
    const staked = atStake.get(wallet) ?? 0n
    const wei = {
      budget: settings.gasBudgetWei,
      burnt: burnt.weiOf(wallet),
      atStake: staked,
      cost,
    }
    const isPaid = leaving <= (funds.ausdMicro.get(wallet) ?? 0n)
    const cover = isPaid ? budgetFor(wei) : 'later'
    covers.set(operation, cover)
    if (cover !== 'room') continue
    unseen.set(wallet, leaving)
    atStake.set(wallet, staked + cost)
  }
  return covers
}

/**
 * Counts the gas of transfers that reverted, alone or among others, against the budgets of their
 * wallets: each its part of what the transaction cost, in wei. Answers the wallets whose last it
 * was.
 */
export async function noteBurnt(
  tx: Tx,
  { settings }: Pick<Context, 'settings'>,
  {
    transaction,
    reverted,
    wei,
  }: {
    readonly transaction: Pick<OpenTransaction, 'lane' | 'nonce' | 'operationIds'>
    readonly reverted: readonly Operation[]
    readonly wei: bigint
  },
): Promise<{ wallet: Hex; burntWei: string }[]> {
  const ofUsers = reverted.filter(({ kind }) => payerOf(kind) === 'user')
  if (ofUsers.length === 0) return []
  const { lane, nonce, operationIds } = transaction
  const eachWei = wei / BigInt(operationIds.length)
  const counts = Map.groupBy(ofUsers, ({ wallet }) => wallet)
  const wallets = [...counts.keys()]
  await lockWallets(tx, wallets)
  const burnt = await burntToday(tx, wallets)
  const rows = [...counts].map(([wallet, { length }]) => ({
    ...{ lane, nonce, wallet, wei: eachWei * BigInt(length) },
  }))
  await insertBurnt(tx, rows)
  return rows.flatMap(({ wallet, wei: added }) => {
    const before = burnt.weiOf(wallet)
    const isLast = before < settings.gasBudgetWei && before + added >= settings.gasBudgetWei
    return isLast ? [{ wallet, burntWei: String(before + added) }] : []
  })
}

// A lane signs for what it may have to pay, and that is more than what blocks ask for today: the
// chain takes any attempt it ever saw. So all of it at once, at its highest fees, stays within its
// balance.

/**
 * The most a transaction can take from its lane, in wei: its value, and its gas at the highest fee.
 */
export const costWei = (call: Pick<Call, 'valueWei' | 'gas'>, { maxFeeWei }: Fees): bigint =>
  call.valueWei + call.gas * maxFeeWei

/** The most that everything in flight can take from a lane, in wei: of each the dearest attempt. */
export const inFlightWei = (open: readonly OpenTransaction[]): bigint =>
  open.reduce((sum, { valueWei, attempts }) => {
    const costs = attempts.map((attempt) => costWei({ valueWei, gas: attempt.gas }, attempt))
    return sum + costs.reduce((most, cost) => atLeast(most, cost), 0n)
  }, 0n)

// Monad lets an account bid so much for gas within three blocks, and no more than it has; a block
// leaves out what is above that, and all that comes after it. What is open is no older than that by
// much, so that all of it together stays below.

/** 10 coins, in wei: https://docs.monad.xyz/developer-essentials/reserve-balance */
const bidMaxWei = 10n * 10n ** 18n

/** What a block would have a transaction bid for gas, in wei, at this base fee. */
export const bidWei = (gas: bigint, fees: Fees, baseFeeWei: bigint): bigint => {
  const askedWei = baseFeeWei + fees.priorityWei
  return gas * atMost(askedWei, fees.maxFeeWei)
}

/** What a lane may still bid for gas, in wei, beside what it has open. */
export function bidRoomWei(
  balanceWei: bigint,
  open: readonly OpenTransaction[],
  baseFeeWei: bigint,
): bigint {
  const budgetWei = atMost(balanceWei, bidMaxWei)
  const bids = open
    .map(({ attempts }) => attempts.at(-1)!)
    .map((one) => bidWei(one.gas, one, baseFeeWei))
  return budgetWei - bids.reduce((sum, bid) => sum + bid, 0n)
}
