import { type Reaction, reactTo } from '#shared/bus/reaction'
import type { Tx } from '#shared/db/open'
import { relayFailed, relaySettled } from '#shared/messages/relay'
import type { Context } from './context'
import { type PaymentFacts, parseRefId, type Reason } from './payment'
import { lockPayment, notePayment } from './payment.store'
import { decideRevoked, decideSettled, type Step } from './receipt'
import { takeDecided } from './step.store'
import { settleFreeze } from './wallet.store'

/** What the chain made of our orders. */
export const relayReactions = (context: Context): Reaction[] => [
  settled(context, 'credit', decideSettled),
  settled(context, 'repay', decideSettled),
  settled(context, 'revoke', decideRevoked),
  failed(context, 'credit', 'paid', 'credit_failed'),
  failed(context, 'repay', 'paid', 'repay_failed'),
  failed(context, 'revoke', 'revoking', 'revoke_failed'),
  reactTo(relaySettled('extend'), {
    // The chain has the new end: the next check is planned by it.
    apply: async (tx, { cause }) => {
      const ref = parseRefId(cause.split(':')[0]!)
      if (ref) await notePayment(tx, ref.id, { lookAt: new Date(context.clock()) })
    },
  }),
  reactTo(relayFailed('extend'), {
    apply: async (_, { cause, reason }) =>
      context.log.error({ cause, reason, alarm: true }, 'hold could not be extended'),
  }),
  reactTo(relaySettled('freeze'), {
    apply: async (tx, { cause }) => {
      const [wallet, revision] = cause.split(':')
      await settleFreeze(tx, wallet!, BigInt(revision!))
    },
  }),
  reactTo(relayFailed('freeze'), {
    apply: async (_, { cause, reason }) =>
      context.log.error({ cause, reason, alarm: true }, 'wallet could not be frozen or freed'),
  }),
]

type Ordered = 'credit' | 'repay' | 'revoke'
type Set = { txHash?: string | null; creditedAt?: Date }

const settled = (context: Context, kind: Ordered, decide: (payment: PaymentFacts) => Step) =>
  reactTo(relaySettled(kind), {
    apply: (tx, { cause, txHash }) =>
      // The hash shown is that of the credit; a revocation does not overwrite it.
      decideAbout(tx, context, cause, {
        decide,
        set: kind === 'revoke' ? {} : { txHash, creditedAt: new Date(context.clock()) },
      }),
  })

const failed = (context: Context, kind: Ordered, state: PaymentFacts['state'], reason: Reason) =>
  reactTo(relayFailed(kind), {
    apply: (tx, { cause }) =>
      decideAbout(tx, context, cause, {
        decide: (payment) =>
          payment.state === state ? { next: 'review', reason } : { stay: true },
        set: {},
      }),
  })

async function decideAbout(
  tx: Tx,
  context: Context,
  cause: string,
  { decide, set }: { decide: (payment: PaymentFacts) => Step; set: Set },
): Promise<void> {
  const ref = parseRefId(cause)
  const payment = ref && (await lockPayment(tx, ref.id))
  if (!payment) {
    const fields = { paymentId: cause, alarm: true }
    context.log.error(fields, 'relayer answered for an unknown payment')
    return
  }
  // Told again about a part that was taken back since.
  if (payment.part !== ref.part) return
  await takeDecided(tx, context, payment, decide({ ...payment, ...set }), set)
}
