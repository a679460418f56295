import type { Tx } from '#shared/db/open'
import type { Context } from '../context'
import type { Call, Fees } from '../keys/keys'
import type { OpenTransaction } from '../lanes/lane.store'
import { atStakeWei, burntToday, insertBurnt } from '../operations/burnt.store'
import { payerOf } from '../operations/operation'
import { lockWallet, type Operation, unseenMicro } from '../operations/operation.store'
import { atLeast } from './transaction'

// Anybody may sign any number of transfers over one balance. Each passes its simulation, one of them
// moves the money, and the others would revert at our cost. So nothing gets a nonce that its wallet
// could not pay beside what it has in flight: it waits until that is final, and is examined anew.

/** AUSD (10⁻⁶) a wallet holds, as the state at one block shows it. */
export type Funds = { readonly ausdMicro: bigint; readonly blockNumber: bigint }

/** What the wallet of a take or a send holds at the newest block; undefined when it pays nothing. */
export async function fundsFor(
  context: Context,
  { wallet, leavesMicro }: Operation,
): Promise<Funds | undefined> {
  if (leavesMicro === 0n) return undefined
  const { balance, blockNumber } = await context.account(wallet)
  return { ausdMicro: BigInt(balance.ausd), blockNumber: BigInt(blockNumber) }
}

/**
 * Whether the wallet can pay an operation beside what is in flight. Holds until the transaction
 * ends: copies of the service count a wallet's operations one after the other.
 */
export async function isCovered(
  tx: Tx,
  { wallet, leavesMicro }: Operation,
  funds: Funds,
): Promise<boolean> {
  await lockWallet(tx, wallet)
  return funds.ausdMicro - (await unseenMicro(tx, wallet, funds.blockNumber)) >= leavesMicro
}

// Code of the user's decides whether such a transfer reverts, and it can tell a transaction from what
// it was asked before. No more of them are in flight than the day's budget of their wallet would pay
// for if all reverted; one may always go, so that each gets its turn.

/** Whether another transfer of a wallet may go: not before those in flight are final, or not today. */
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

/** The same of an operation, under the lock of its wallet, which `isCovered` takes. */
export async function budgetOf(
  tx: Tx,
  { settings }: Pick<Context, 'settings'>,
  { wallet }: Operation,
  cost: bigint,
): Promise<'room' | 'later' | 'spent'> {
  const [burnt, atStake] = [await burntToday(tx, wallet), await atStakeWei(tx, wallet)]
  return budgetFor({ budget: settings.gasBudgetWei, burnt, atStake, cost })
}

/**
 * Counts the gas of a reverted transfer, in wei, against the budget of its wallet. Answers the wallet
 * when this was the last of it.
 */
export async function noteBurnt(
  tx: Tx,
  { settings }: Pick<Context, 'settings'>,
  reverted: {
    readonly transaction: Pick<OpenTransaction, 'lane' | 'nonce'>
    readonly operations: readonly Operation[]
    readonly wei: bigint
  },
): Promise<{ wallet: `0x${string}`; burntWei: string } | undefined> {
  const [operation] = reverted.operations
  if (!operation || payerOf(operation.kind) !== 'user') return undefined
  const { wallet } = operation
  const { lane, nonce } = reverted.transaction
  await lockWallet(tx, wallet)
  const before = await burntToday(tx, wallet)
  await insertBurnt(tx, { lane, nonce, wallet, wei: reverted.wei })
  const burnt = before + reverted.wei
  const isLast = before < settings.gasBudgetWei && burnt >= settings.gasBudgetWei
  return isLast ? { wallet, burntWei: String(burnt) } : undefined
}

// A lane signs for what it may have to pay, and that is more than what blocks ask for today: the chain
// takes any attempt it ever saw. So all of it at once, at its highest fees, stays within its balance.

/** The most a transaction can take from its lane, in wei: its value, and its gas at the highest fee. */
export const costWei = (call: Pick<Call, 'valueWei' | 'gas'>, { maxFeeWei }: Fees): bigint =>
  call.valueWei + call.gas * maxFeeWei

/** The most that everything in flight can take from a lane, in wei: of each the dearest attempt. */
export const inFlightWei = (open: readonly OpenTransaction[]): bigint =>
  open.reduce((sum, { valueWei, attempts }) => {
    const costs = attempts.map((attempt) => costWei({ valueWei, gas: attempt.gas }, attempt))
    return sum + costs.reduce((most, cost) => atLeast(most, cost), 0n)
  }, 0n)
