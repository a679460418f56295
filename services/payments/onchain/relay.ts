import { type Reaction, reactTo } from '#platform/bus/reaction'
import type { Tx } from '#platform/db/open'
import { relayFailed, relaySettled } from '#shared/messages/relay'
import type { Context } from '../context'
import { decideFailed, decideRevoked, decideSettled, type Step } from '../decide'
import { followDoubt } from '../losses/follow'
import { confirmFreeze } from '../losses/refund.store'
import { followRestart, freezeInDoubt } from '../losses/reversal'
import { mayBeOnHold, type PaymentFacts, parseRefId, remainderFloor } from '../payment'
import { type Change, lockPayment, recordPayment } from '../payment.store'
import { takeDecided } from './advance'

export const relayReactions = (context: Context): Reaction[] => [
  settled(context, 'credit', decideSettled),
  settled(context, 'repay', decideSettled),
  settled(context, 'revoke', decideRevoked),
  failed(context, 'credit'),
  failed(context, 'repay'),
  failed(context, 'revoke'),
  reactTo(relaySettled('extend'), {
    // The chain has a new end of the hold, so the next check is planned by it at once.
    apply: async (tx, { cause }) => {
      const payment = await findOnHold(tx, cause)
      if (payment) await recordPayment(tx, payment.id, { nextCheckAt: new Date(context.clock()) })
    },
  }),
  reactTo(relayFailed('extend'), {
    apply: async (tx, { cause, reason }) => {
      const payment = await findOnHold(tx, cause)
      if (!payment) return
      context.log.alarm({ cause, reason }, 'hold extension failed')
      if (reason === 'hold_not_extendable') await freezeInDoubt(tx, context, payment)
      else await recordPayment(tx, payment.id, { nextCheckAt: new Date(context.clock()) })
    },
  }),
  reactTo(relaySettled('freeze'), {
    apply: async (tx, { wallet, cause }) => {
      const [, revision] = cause.split(':')
      await confirmFreeze(tx, wallet, BigInt(revision!))
    },
  }),
  reactTo(relayFailed('freeze'), {
    apply: async (_, { cause, reason }) => context.log.alarm({ cause, reason }, 'wallet freeze or unfreeze failed'),
  }),
]

async function findOnHold(tx: Tx, cause: string) {
  const ref = parseRefId(cause.split(':')[0]!)
  const payment = ref && (await lockPayment(tx, ref.id))
  return payment && payment.refSequence === ref.refSequence && mayBeOnHold(payment) ? payment : undefined
}

type EffectKind = 'credit' | 'repay' | 'revoke'
type Decide = (payment: PaymentFacts) => Step

const settled = (context: Context, order: EffectKind, decide: Decide) =>
  reactTo(relaySettled(order), {
    apply: (tx, { cause, txHash }) =>
      advanceOf(tx, context, cause, {
        decide,
        set: (payment, leftMicro) =>
          // A revocation keeps the transaction hash of the credit, which users see.
          order === 'revoke' ? revokedUntil(payment, leftMicro) : { txHash, creditedAt: new Date(context.clock()) },
      }),
  })

const revokedUntil = (payment: PaymentFacts, leftMicro: bigint): Change => ({
  onchainMicro: leftMicro,
  // A refund check from before the revocation no longer counts.
  refundsCheckedAt: null,
  ...(leftMicro === remainderFloor(payment) ? { refundAppliedMinor: payment.refundedMinor } : {}),
})

const failed = (context: Context, order: EffectKind) =>
  reactTo(relayFailed(order), {
    apply: (tx, { cause }) =>
      advanceOf(tx, context, cause, {
        decide: (payment) => decideFailed(payment, order),
      }),
  })

async function advanceOf(
  tx: Tx,
  context: Context,
  cause: string,
  { decide, set: setOf }: { decide: Decide; set?: (payment: PaymentFacts, leftMicro: bigint) => Change },
): Promise<void> {
  const [refId = '', left = '0'] = cause.split(':')
  const ref = parseRefId(refId)
  const leftMicro = BigInt(left)
  const payment = ref && (await lockPayment(tx, ref.id))
  if (!payment) {
    const fields = { paymentId: cause }
    context.log.alarm(fields, 'relayer report for unknown payment')
    return
  }
  // guard: an outcome counts only for the current ref of a payment
  // guard: a repeated report of a revocation is not taken for that of a further one
  if (payment.refSequence !== ref.refSequence || leftMicro > payment.leftMicro) return
  const set = setOf?.(payment, leftMicro) ?? {}
  const moved = await takeDecided(tx, context, payment, decide({ ...payment, ...set } as PaymentFacts), set)
  if (!moved) return
  // While the money was on hold, no report about it has frozen the wallet.
  const wasOnHold = payment.state === 'revoking' || moved.state === 'review'
  if (wasOnHold || payment.lostHold) await followDoubt(tx, context, moved)
  await followRestart(tx, context, payment, moved)
}
