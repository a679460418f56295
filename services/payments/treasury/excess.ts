import { Unavailable } from '#platform/bus/ask'
import type { Tx } from '#platform/db/open'
import { ChainAccount } from '#shared/messages/chain'
import { dayStartMs } from '#shared/money/day'
import { askOr, type Context } from '../context'
import { isLate, type Receipt, reducedTo } from '../decide'
import { atLeastZero, awaitsRate, isUnreceived, limitedMicro, most, remainderFloor, uncountedStates } from '../payment'
import type { Change } from '../payment.store'
import type { PaymentRow } from '../payment.table'
import { limitTopup } from '../price'
import type { Charge } from '../provider'
import { fitsLimitOfAll } from './limit-of-all'
import { mayReserve } from './reserve'
import { sumRepaying, sumTopups } from './sums.store'

// The excess of a settlement over the debt becomes collateral, and must fit the limits of top-ups when the
// checkout is opened. On arrival the limits apply again if the debt has shrunk since. They also apply to all
// of a late payment that was admitted on an earlier day; otherwise many unpaid checkouts could be paid on one
// day. The limit of all wallets together applies again to each checkout that ended unpaid, because it left its room to
// others.

/** State of the wallet on the chain, read before the transaction that receives the money. */
export type Owner = {
  readonly drawnMicro: bigint
  readonly verified: boolean
  readonly frozen: boolean
  readonly readAt: Date
}

type Admitted = Pick<PaymentRow, 'pair' | 'state' | 'topupMicro' | 'topupAt' | 'expiresAt'>
type Paid = Pick<Charge, 'paidAt'>

/** Returns true for late money that the limits admitted on an earlier day of its country. */
const isOfEarlierDay = (payment: Admitted, charge: Paid, nowMs: number): boolean =>
  isLate(payment, charge) && payment.topupAt.getTime() < dayStartMs(payment.pair, nowMs)

/**
 * Returns the AUSD (10⁻⁶) that the limits have admitted. They no longer count a replaced payment, and a
 * cancelled one has no `topupMicro`.
 */
const admittedMicro = (payment: Admitted, charge: Paid, nowMs: number): bigint =>
  payment.state === 'replaced' || isOfEarlierDay(payment, charge, nowMs) ? 0n : payment.topupMicro

/** Returns true if there is a limit of all wallets together that no longer counts the payment. */
const leftItsRoom = ({ allDayMicroMax }: Limits, { state }: Pick<PaymentRow, 'state'>): boolean =>
  allDayMicroMax !== null && uncountedStates.some((one) => one === state)
type Limits = Pick<Context, 'allDayMicroMax' | 'clock'>

type Unreceived = Admitted & Pick<PaymentRow, 'ausdMicro' | 'providerPaymentId' | 'reason'>
/** Returns true if money of the payment may become collateral that one of the limits has not admitted. */
export const mayExceed = (limits: Limits, payment: Unreceived, charge: Paid): boolean =>
  isUnreceived(payment) &&
  (leftItsRoom(limits, payment) || admittedMicro(payment, charge, limits.clock()) < payment.ausdMicro)

/** Reads the payment's wallet on the chain. Throws `Unavailable` if the chain cannot be read. */
export async function readOwner(context: Context, { wallet }: Pick<PaymentRow, 'wallet'>): Promise<Owner> {
  const readAt = new Date(context.clock())
  const account = await askOr(context, ChainAccount, { wallet }, 'chain_unavailable')
  if ('refused' in account) throw new Unavailable('the debt cannot be read: the chain is unavailable')
  const { drawn, verified, frozen } = account.ok
  return { drawnMicro: BigInt(drawn), verified, frozen, readAt }
}

type PaidReceipt = Extract<Receipt, { next: 'paid' }>

/**
 * Admits the excess over the debt: returns the receipt with the change that counts the excess as a top-up. Excess that is
 * refused waits for an operator, from whom it goes back to its payer; the part that repays the debt is applied all the same. The
 * caller holds the wallet lock.
 */
export async function admitExcess(
  tx: Tx,
  context: Context,
  payment: PaymentRow,
  { receipt, charge, ...more }: { receipt: PaidReceipt; charge: Charge; held: boolean; owner: Owner | undefined },
): Promise<{ receipt: Receipt; set: Change }> {
  const nowMs = context.clock()
  if (!mayExceed(context, payment, charge)) return { receipt, set: {} }
  const { held, owner } = more
  // The row has changed since it was read, so the wallet was not read on the chain.
  if (!owner) throw new Unavailable(`the debt that ${payment.id} pays must be read again`)
  const admitted = admittedMicro(payment, charge, nowMs)
  const owed = await owedMicro(tx, payment, owner)
  const overMicro = atLeastZero(receipt.onchainMicro - owed)
  const topupMicro = isOfEarlierDay(payment, charge, nowMs)
    ? overMicro
    : most(limitedMicro(payment, receipt.counted), overMicro)
  const moreMicro = topupMicro - admitted
  const moreOfAllMicro = leftItsRoom(context, payment) ? overMicro : moreMicro
  // guard: what exceeds a debt is held to the limits of top-ups
  if ([moreMicro, moreOfAllMicro].every((micro) => micro <= 0n)) return { receipt, set: {} }
  if (!(await mayAdmit(tx, context, payment, { moreMicro, moreOfAllMicro, held, owner }))) {
    const reduced = reducedTo(receipt, owed)
    return { receipt: reduced ?? { next: 'review', reason: 'excess_refused' }, set: {} }
  }
  return { receipt, set: { topupMicro, topupAt: new Date(context.clock()) } }
}

/** Returns the debt that a settlement may repay (10⁻⁶ AUSD). */
async function owedMicro(tx: Tx, { kind, wallet }: PaymentRow, { drawnMicro, readAt }: Owner): Promise<bigint> {
  if (kind === 'topup') return 0n
  // Each unit of debt is repaid once, however many checkouts were opened for it.
  return atLeastZero(drawnMicro - (await sumRepaying(tx, wallet, readAt)))
}

/** AUSD (10⁻⁶) that the limits of a wallet, and that of all wallets together, have not admitted. */
type More = { readonly moreMicro: bigint; readonly moreOfAllMicro: bigint }

async function mayAdmit(
  tx: Tx,
  context: Context,
  payment: PaymentRow,
  { moreMicro, moreOfAllMicro, held, owner }: More & { held: boolean; owner: Owner },
): Promise<boolean> {
  const { treasury, clock, topupLimits } = context
  // guard: what exceeds a debt is held to the limit of all wallets
  if (!(await fitsLimitOfAll(tx, context, moreOfAllMicro))) return false
  // The limits of its wallet have counted the payment.
  if (moreMicro <= 0n) return true
  if (!owner.verified || (held && owner.frozen)) return false
  const { pausedSince, ...totals } = await sumTopups(tx, payment.wallet, new Date(clock()), payment.pair)
  // The payment's own checkout is already open and its money has come, so it does not count as one more.
  if (pausedSince || limitTopup(moreMicro, { ...totals, openCount: -1, dayCount: -1 }, topupLimits)) return false
  const known = treasury.last()
  if (!known) throw new Unavailable('the treasury has not been read yet')
  // A payment in one of these states is among the promises already.
  const isPromised = payment.state === 'awaiting_payment' || payment.state === 'opening'
  const ownMicro = isPromised || awaitsRate(payment) ? remainderFloor(payment) : 0n
  return mayReserve(tx, known, moreMicro - ownMicro)
}
