import type { Hex } from 'viem'
import type { Tx } from '#platform/db/open'
import type { Context } from '../context'
import type { CallToSign, Fees } from '../keys/keys'
import type { OpenTransaction } from '../lanes/lane.store'
import { payerOf } from '../operations/operation'
import type { Operation } from '../operations/operation.table'
import { atStakeWei, insertRevertedGas, revertedGasToday } from '../operations/reverted-gas.store'
import { lockWallets, unseenMicro } from '../operations/wallet.store'
import { atLeast, atMost } from './transaction'

// A wallet may sign many transfers of one balance. Each passes its simulation, but only the first succeeds and the
// others revert at our cost. So a wallet must cover all its transfers in flight.

/** AUSD balances (10⁻⁶) at one block. */
export type Funds = {
  readonly ausdMicro: ReadonlyMap<Hex, bigint>
  readonly blockNumber: bigint
}

/** Reads the balance of the wallet at the newest block, or returns undefined if the operation takes nothing from it. */
export async function fundsFor(context: Context, { wallet, leavesMicro }: Operation): Promise<Funds | undefined> {
  if (leavesMicro === 0n) return undefined
  const { balance, blockNumber } = await context.account(wallet)
  const ausdMicro = new Map([[wallet, BigInt(balance.ausd)]])
  return { ausdMicro, blockNumber: BigInt(blockNumber) }
}

// Users pay no gas for sends and cash-outs. Its cost counts against a daily budget of the wallet, whether the transfer
// reverted or not. No more transfers are in flight than the budget could pay, except that one is always allowed, so
// that every wallet makes progress. The return of a refused cash-out is counted but never refused.

export function budgetFor(wei: {
  readonly budget: bigint
  readonly reverted: bigint
  readonly atStake: bigint
  readonly cost: bigint
}): 'room' | 'later' | 'spent' {
  // guard: a wallet spends no more gas than its daily budget
  if (wei.reverted >= wei.budget) return 'spent'
  const isAlone = wei.atStake === 0n
  return isAlone || wei.reverted + wei.atStake + wei.cost <= wei.budget ? 'room' : 'later'
}

export type Cover = ReturnType<typeof budgetFor>

export async function coverOf(
  tx: Tx,
  { settings }: Pick<Context, 'settings'>,
  operations: readonly Operation[],
  { funds, costEachWei: cost }: { readonly funds: Funds; readonly costEachWei: bigint },
): Promise<ReadonlyMap<Operation, Cover>> {
  const wallets = [...new Set(operations.map(({ wallet }) => wallet))]
  lockWallets(tx, wallets)
  const [unseen, reverted, atStake] = await Promise.all([
    unseenMicro(tx, wallets, funds.blockNumber),
    revertedGasToday(tx, wallets),
    atStakeWei(tx, wallets),
  ])
  const covers = new Map<Operation, Cover>()
  for (const operation of operations) {
    const { wallet, leavesMicro } = operation
    const leaving = (unseen.get(wallet) ?? 0n) + leavesMicro
    const staked = atStake.get(wallet) ?? 0n
    const wei = {
      budget: settings.gasBudgetWei,
      reverted: reverted.weiOf(wallet),
      atStake: staked,
      cost,
    }
    const isPaid = leaving <= (funds.ausdMicro.get(wallet) ?? 0n)
    // guard: a transfer gets a nonce only if its wallet can pay it in addition to those in flight
    const cover = isPaid ? budgetFor(wei) : 'later'
    covers.set(operation, cover)
    if (cover !== 'room') continue
    unseen.set(wallet, leaving)
    atStake.set(wallet, staked + cost)
  }
  return covers
}

type Spent = { readonly wallet: Hex; readonly revertedWei: string }

/**
 * Charges the gas to the wallets, in equal parts per operation, together with the next statement or the commit. `tell` gets
 * the wallets whose budget this exhausts.
 */
export function chargeGas(
  tx: Tx,
  { settings }: Pick<Context, 'settings'>,
  {
    transaction,
    carried,
    wei,
  }: {
    readonly transaction: Pick<OpenTransaction, 'lane' | 'nonce' | 'operationIds'>
    readonly carried: readonly Operation[]
    readonly wei: bigint
  },
  tell: (spent: Spent[]) => void,
): void {
  const ofUsers = carried.filter(({ kind }) => payerOf(kind) === 'user' || kind === 'return')
  if (ofUsers.length === 0) return
  const { lane, nonce, operationIds } = transaction
  const eachWei = wei / BigInt(operationIds.length)
  const counts = Map.groupBy(ofUsers, ({ wallet }) => wallet)
  const wallets = [...counts.keys()]
  lockWallets(tx, wallets)
  const rows = [...counts].map(([wallet, { length }]) => ({
    lane,
    nonce,
    wallet,
    wei: eachWei * BigInt(length),
  }))
  insertRevertedGas(tx, rows, ({ weiOf }) => {
    const spent = rows.flatMap(({ wallet, wei: added }) => {
      const before = weiOf(wallet)
      const isLast = before < settings.gasBudgetWei && before + added >= settings.gasBudgetWei
      return isLast ? [{ wallet, revertedWei: String(before + added) }] : []
    })
    tell(spent)
  })
}

// Any attempt may be mined, so a lane's balance must cover everything in flight at its highest fees.

export const costWei = (call: Pick<CallToSign, 'valueWei' | 'gas'>, { maxFeeWei }: Fees): bigint =>
  call.valueWei + call.gas * maxFeeWei

export const inFlightWei = (open: readonly OpenTransaction[]): bigint =>
  open.reduce((sum, { valueWei, attempts }) => {
    const costs = attempts.map((attempt) => costWei({ valueWei, gas: attempt.gas }, attempt))
    return sum + costs.reduce((most, cost) => atLeast(most, cost), 0n)
  }, 0n)

// Monad limits an account's gas bids within three blocks to 10 coins and to its balance, and skips a transaction above
// that together with all that follow. Open transactions are rarely older than three blocks, so their bids stay below
// the limit.

/** Most gas bids of a lane, in wei (https://docs.monad.xyz/developer-essentials/reserve-balance). */
const bidMaxWei = 10n * 10n ** 18n

export const bidWei = (gas: bigint, fees: Fees, baseFeeWei: bigint): bigint => {
  const askedWei = baseFeeWei + fees.priorityWei
  return gas * atMost(askedWei, fees.maxFeeWei)
}

export function bidRoomWei(balanceWei: bigint, open: readonly OpenTransaction[], baseFeeWei: bigint): bigint {
  const budgetWei = atMost(balanceWei, bidMaxWei)
  const bids = open.map(({ attempts }) => attempts.at(-1)!).map((one) => bidWei(one.gas, one, baseFeeWei))
  return budgetWei - bids.reduce((sum, bid) => sum + bid, 0n)
}
