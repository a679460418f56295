import type { WorthOf } from '#shared/messages/operator-commands'
import type {
  LossGivenBack,
  PaymentTakenBack,
  ReviewResolve,
  TopupRefund,
  WalletClear,
} from '#shared/messages/payments'
import type { Context } from '../context'
import { findMissing, hasLostHold } from '../losses/refund.store'
import { sumMissing } from '../losses/reversal'
import { most } from '../payment'
import { findPayment } from '../payment.store'
import type { PaymentRow } from '../payment.table'
import { findSeconds } from './resolution.store'

type Second = { readonly currency: string | null; readonly minor: bigint | null }
type Priced = Pick<PaymentRow, 'currency' | 'fiatMinor' | 'ausdMicro' | 'paidMinor'>

/** Returns an amount of a payment's currency in 10⁻⁶ AUSD, at the rate of the payment and rounded up. */
const microOf = ({ ausdMicro, fiatMinor }: Priced, minor: bigint): bigint =>
  (minor * ausdMicro + fiatMinor - 1n) / fiatMinor

/**
 * Returns all that a decision about a payment can give away, in 10⁻⁶ AUSD: what was promised or paid, if that is more, and
 * every further payment. Null if one of the amounts is unknown.
 */
export function reviewMicro(payment: Priced, seconds: readonly Second[]): bigint | null {
  const { paidMinor, fiatMinor, currency } = payment
  if (paidMinor === null) return null
  let minor = most(fiatMinor, paidMinor)
  for (const second of seconds) {
    if (second.minor === null || second.currency !== currency) return null
    minor += second.minor
  }
  return microOf(payment, minor)
}

const paymentOf = ({ database }: Context, id: string) => database.read((db) => findPayment(db, id))

/** Counts a decision about a payment in review. The state that was shown is that of its row. */
export const worthOfReview =
  (context: Context): WorthOf<typeof ReviewResolve> =>
  async ({ paymentId }) => {
    const payment = await paymentOf(context, paymentId)
    if (!payment) return undefined
    const seconds = await context.database.read((db) => findSeconds(db, paymentId))
    return { micro: reviewMicro(payment, seconds), to: payment.wallet, seen: payment.changedAt.toISOString() }
  }

/** Counts the money that a credited top-up brought, whatever came back for it. */
export const worthOfTopupRefund =
  (context: Context): WorthOf<typeof TopupRefund> =>
  async ({ paymentId }) => {
    const payment = await paymentOf(context, paymentId)
    return payment && { micro: reviewMicro(payment, []), to: payment.wallet, seen: payment.changedAt.toISOString() }
  }

/** Counts a loss that is written off. The sum is unknown if money of the wallet may be going back without a hold. */
export const worthOfClear =
  ({ database }: Context): WorthOf<typeof WalletClear> =>
  async ({ wallet, revision }) => {
    const missing = await database.read((db) => findMissing(db, wallet))
    const isDoubtful = await database.read((db) => hasLostHold(db, wallet))
    return { micro: isDoubtful ? null : sumMissing(missing), to: wallet, seen: revision }
  }

/** Counts AUSD that an operator states to have given back. Its handler refuses another sum than the one that is due. */
export const worthOfGivenBack =
  (context: Context): WorthOf<typeof LossGivenBack> =>
  async ({ paymentId, micro }) => {
    const payment = await paymentOf(context, paymentId)
    return payment && { micro: BigInt(micro), to: payment.wallet, seen: '' }
  }

/** Counts the part of a payment that was taken back; a record that is taken back may be of the whole payment. */
export const worthOfTakenBack =
  (context: Context): WorthOf<typeof PaymentTakenBack> =>
  async ({ paymentId, minor }) => {
    const payment = await paymentOf(context, paymentId)
    if (!payment) return undefined
    const seconds = await context.database.read((db) => findSeconds(db, paymentId))
    const rest = seconds.filter(({ providerPaymentId }) => providerPaymentId === payment.providerPaymentId)
    const micro = minor === '0' ? reviewMicro(payment, rest) : microOf(payment, BigInt(minor))
    return { micro, to: payment.wallet, seen: '' }
  }
