import { currencyOf } from '#infra/sandbox/account'
import { majorFromMinor } from '#infra/sandbox/money'
import type { Refund } from '#infra/sandbox/records'
import {
  DisputeCharge,
  LossGivenBack,
  RefundGiveUp,
  ReviewResolve,
  TopupRefund,
  WalletClear,
  WalletFreeze,
  WalletReclaim,
} from '#shared/messages/payments'
import { CashoutCancel, CashoutGiveUp, CashoutHold } from '#shared/messages/payouts'
import type { Question } from '#shared/messages/topic'
import type { Reversal, WalletRow } from '../../../services/payments/losses/refund.store'
import { sumMissing } from '../../../services/payments/losses/reversal'
import { isOrderedByUs } from '../../../services/payments/payment'
import type { PaymentRow } from '../../../services/payments/payment.table'
import { unpaidStates } from '../../../services/payouts/cashout'
import type { Cashout } from '../../../services/payouts/cashout.table'
import { chance, oneOf, pick, waitWithin } from './choices'
import { askOne, type Copy, type Surroundings } from './services'

const isOrdered = ({ referenceId }: Refund): boolean => isOrderedByUs(referenceId)
/** Most time in ms between two looks of the operators at what is in review. */
const lookMs = 6_000
const decisions = ['refund', 'refund', 'credit', 'accept'] as const
const sights = {
  refund: 'an operator chose refund',
  credit: 'an operator chose credit',
  accept: 'an operator chose accept',
} as const
const isMissing = ({ clearedAt, madeGoodMicro, lostMicro }: Reversal) => clearedAt === null && madeGoodMicro < lostMicro

/**
 * Starts operators who decide about payments in review, open refunds, credited top-ups, frozen wallets, the charges of disputes
 * and cash-outs, at any moment and in any order. Some decide at once about the same one, and some send a command again. Many
 * payments wait until the faults are over, and some are never decided. Refunds that they ordered may bounce, and payers may
 * dispute what is refunded to them.
 */
export function startOperators(around: Surroundings, copiesOf: (service: string) => readonly Copy[]): void {
  const { world, provider } = around
  const { choices } = world
  let commands = 0

  /** Sends a command, and sometimes sends it again. `sight` is what is counted if it is done. */
  const order = (question: Question, asked: object, sight: string, command = ++commands) => {
    const id = `00000000-0000-4000-8000-${String(command).padStart(12, '0')}`
    const request = { command: id, by: `operator ${command % 3}`, reason: 'by chance', ...asked }
    const isAsked = askOne(around, copiesOf(question.owner), { question, request }, ({ ok }) => {
      if (ok?.done) world.saw(sight)
      if (ok?.refused) world.saw('a decision of an operator was refused')
    })
    if (!isAsked) return
    world.tell(`${sight}: ${JSON.stringify(asked)}`)
    if (chance(choices, 200))
      world.after(oneOf(choices, 3_000), undefined, () => order(question, asked, sight, command))
  }
  const decide = (paymentId: string, resolution: (typeof decisions)[number]) =>
    order(ReviewResolve, { paymentId, resolution }, sights[resolution])
  const decideWallet = ({ wallet, revision, frozenByOperator, clearedRevision }: WalletRow) => {
    const losses = world.rows.reversals.by('wallet', wallet)
    const missing = String(sumMissing(losses.filter(isMissing)))
    const seen = { wallet, revision: String(revision) }
    switch (oneOf(choices, 4)) {
      case 0:
        return order(WalletClear, { ...seen, missing }, 'an operator cleared a wallet')
      case 1:
        if (clearedRevision === null) return
        return order(WalletReclaim, { wallet, clearing: String(clearedRevision) }, 'an operator undid a clearing')
      case 2:
        if (frozenByOperator) return order(WalletFreeze, { ...seen, to: 'free' }, 'an operator freed a wallet')
        return order(WalletFreeze, { ...seen, to: 'frozen' }, 'an operator froze a wallet')
      default:
        for (const { paymentId, madeGoodMicro, lostMicro } of losses)
          if (madeGoodMicro > lostMicro)
            order(
              LossGivenBack,
              { paymentId, micro: String(madeGoodMicro - lostMicro) },
              'an operator gave a repayment back',
            )
    }
  }
  /** Refunds a credited top-up, as if its AUSD had come back. The transfer may be one that was used before. */
  const refund = ({ id, onchainMicro }: PaymentRow) => {
    const transfer = `0x${String(oneOf(choices, 10_000)).padStart(64, '0')}:1`
    const asked = { paymentId: id, transfers: [transfer], back: String(onchainMicro) }
    order(TopupRefund, asked, 'an operator refunded a credited top-up')
  }
  /** A held cash-out waits until it is released or cancelled, also once the faults are over. */
  const decideCashout = ({ id: payoutId, state, heldByOperator, holdRevision: revision }: Cashout) => {
    const hold = (to: 'held' | 'released', sight: string) => order(CashoutHold, { payoutId, to, revision }, sight)
    if (!heldByOperator) {
      if (!world.isCalm && chance(choices, 30)) hold('held', 'an operator held a cash-out')
    } else if (state === 'taken' && chance(choices, 300))
      order(CashoutCancel, { payoutId }, 'an operator cancelled a cash-out')
    else if (chance(choices, 500)) hold('released', 'an operator released a cash-out')
  }
  const decidePayment = (payment: PaymentRow) => {
    const { id, state, kind } = payment
    if (state === 'review' && chance(choices, 150)) {
      decide(id, pick(choices, decisions))
      if (chance(choices, 150)) decide(id, pick(choices, decisions))
    }
    if (state === 'credited' && kind === 'topup' && chance(choices, 2)) refund(payment)
  }
  /** Names the charges of disputes that may be about several. */
  const nameCharges = () => {
    for (const { id, paymentId: charge, status } of provider.book.all('disputes')) {
      const doubts = world.rows.refunds.by('charge', charge).filter(({ objectId, origin }) => {
        return objectId === id && origin === 'void'
      })
      if (doubts.some((one) => one.status !== 'dead') && status !== 'WON' && chance(choices, 200))
        order(DisputeCharge, { disputeId: id, charge }, 'an operator named the charge of a dispute')
    }
  }
  /** Has the payer's bank send back a refund that an operator ordered. */
  const bounce = ({ id }: Refund) => {
    world.saw('a refund that an operator ordered bounced')
    world.tell(`the provider: refunds/${id}/fail`)
    provider.control(`refunds/${id}/fail`)
  }
  const disputed = new Set<string>()
  /** Has the payer's bank take money that an operator refunds, and give it back sometimes. */
  const dispute = ({ paymentId }: Refund) => {
    if (disputed.has(paymentId)) return
    disputed.add(paymentId)
    world.saw('a payer disputed a payment that an operator refunded')
    const { capturedMinor, account } = provider.book.get('payments', paymentId)!
    const minor = chance(choices, 500) ? capturedMinor : capturedMinor / 2n
    const amount = majorFromMinor(minor, currencyOf[account])
    const made = provider.control(`payments/${paymentId}/chargeback`, { amount, names: 'payment' })
    world.tell(`the provider: chargeback ${made.id} of ${paymentId}`)
    if (chance(choices, 600))
      world.after(oneOf(choices, 20_000), undefined, () => {
        world.tell(`the provider: chargebacks/${made.id} is reversed`)
        provider.control(`chargebacks/${made.id}`, { status: 'REVERSED' })
      })
  }
  const look = () => {
    const { payments, cashouts, refundOrders, wallets } = world.rows
    for (const cashout of [...cashouts.values()]) {
      if (unpaidStates.has(cashout.state)) decideCashout(cashout)
      if (cashout.state === 'paying' && !world.isCalm && chance(choices, 30))
        order(CashoutGiveUp, { payoutId: cashout.id }, 'an operator gave a payout up')
    }
    // A dispute of one of several charges waits until its charge is named, also once the faults are over.
    nameCharges()
    world.after(waitWithin(choices, lookMs), undefined, look)
    if (world.isCalm) return
    for (const payment of [...payments.values()]) decidePayment(payment)
    for (const { state, paymentId, reference } of [...refundOrders.values()])
      if (state === 'open' && chance(choices, 100))
        order(RefundGiveUp, { paymentId, reference }, 'an operator gave a refund up')
    for (const wallet of [...wallets.values()]) if (chance(choices, 30)) decideWallet(wallet)
    for (const one of provider.book.all('refunds').filter(isOrdered)) {
      if (one.status === 'SUCCEEDED' && chance(choices, 20)) bounce(one)
      if (chance(choices, 60)) dispute(one)
    }
  }
  look()
}
