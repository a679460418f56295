import { type Reaction, reactTo } from '#shared/bus/reaction'
import type { Tx } from '#shared/db/open'
import { relayFailed, relaySettled } from '#shared/messages/relay'
import type { PaymentFacts, Reason } from './payment'
import { lockPayment } from './payment.store'
import { decideRevoked, decideSettled, type Step } from './receipt'
import { type Desk, takeDecided } from './step.store'

/** What the chain made of our orders. */
export const relayReactions = (desk: Desk): Reaction[] => [
  settled(desk, 'credit', decideSettled),
  settled(desk, 'repay', decideSettled),
  settled(desk, 'revoke', decideRevoked),
  failed(desk, 'credit', 'paid', 'credit_failed'),
  failed(desk, 'repay', 'paid', 'repay_failed'),
  failed(desk, 'revoke', 'revoking', 'revoke_failed'),
]

type Ordered = 'credit' | 'repay' | 'revoke'

const settled = (desk: Desk, kind: Ordered, decide: (payment: PaymentFacts) => Step) =>
  reactTo(relaySettled(kind), {
    apply: (tx, { cause, txHash }) =>
      // The hash shown is that of the credit; a revocation does not overwrite it.
      decideAbout(tx, desk, cause, decide, kind === 'revoke' ? {} : { txHash }),
  })

const failed = (desk: Desk, kind: Ordered, state: PaymentFacts['state'], reason: Reason) =>
  reactTo(relayFailed(kind), {
    apply: (tx, { cause }) =>
      decideAbout(tx, desk, cause, (payment) =>
        payment.state === state ? { next: 'review', reason } : { stay: true },
      ),
  })

async function decideAbout(
  tx: Tx,
  desk: Desk,
  cause: string,
  decide: (payment: PaymentFacts) => Step,
  set: { txHash?: string | null } = {},
): Promise<void> {
  const payment = await lockPayment(tx, cause)
  if (!payment) {
    desk.log.error({ paymentId: cause, alarm: true }, 'relayer answered for an unknown payment')
    return
  }
  await takeDecided(tx, desk, payment, decide(payment), set)
}
