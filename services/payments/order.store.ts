import type { Tx } from '#shared/db/open'
import { announce } from '#shared/db/outbox.store'
import { idFor } from '#shared/ids'
import { PaymentInReview, PaymentPaid, PaymentSettled } from '#shared/messages/payments'
import { CreditOrdered, ExtendOrdered, RepayOrdered, RevokeOrdered } from '#shared/messages/relay'
import { refIdOf } from './payment'
import type { PaymentRow } from './payment.store'
import { outbox } from './schema.store'

/**
 * Orders what the money is for. A repeat by the sweeper carries an id of its own, so that neither
 * the broker nor the relayer's inbox drops it: the relayer knows its cause and acts once.
 */
export function orderEffect(tx: Tx, payment: PaymentRow, repeat = 0): Promise<void> {
  const { wallet, kind } = payment
  const refId = refIdOf(payment)
  const ausd = payment.liveMicro.toString()
  const held = payment.held ?? true
  const idOf = (subject: string) =>
    idFor('message', `${subject}:${refId}${repeat === 0 ? '' : `:${repeat}`}`)
  if (payment.state === 'revoking') {
    const id = idOf(RevokeOrdered.subject)
    return announce(tx, outbox, RevokeOrdered, id, { refId, wallet, of: kind })
  }
  if (kind === 'settlement') {
    if (!payment.paidAt) throw new Error(`settlement ${payment.id} is paid and has no time of it`)
    const paidAt = String(Math.floor(payment.paidAt.getTime() / 1_000))
    const id = idOf(RepayOrdered.subject)
    return announce(tx, outbox, RepayOrdered, id, { refId, wallet, ausd, held, paidAt })
  }
  const id = idOf(CreditOrdered.subject)
  return announce(tx, outbox, CreditOrdered, id, { refId, wallet, ausd, held })
}

/** Asks for more time: the hold is about to end (`until`, unix seconds), and the provider is silent. */
export function orderExtension(tx: Tx, payment: PaymentRow, until: string): Promise<void> {
  const refId = refIdOf(payment)
  const id = idFor('message', `${ExtendOrdered.subject}:${refId}:${until}:${payment.looks}`)
  return announce(tx, outbox, ExtendOrdered, id, { refId, wallet: payment.wallet, until })
}

const facts = { paid: PaymentPaid, settled: PaymentSettled, review: PaymentInReview }

/** Tells the other services what became of a payment. */
export function announceFact(tx: Tx, payment: PaymentRow, fact: keyof typeof facts): Promise<void> {
  const topic = facts[fact]
  return announce(tx, outbox, topic, idFor('message', `${topic.subject}:${payment.id}`), {
    paymentId: payment.id,
    kind: payment.kind,
    wallet: payment.wallet,
    fiat: payment.fiatMinor.toString(),
    currency: payment.currency,
    ausd: payment.ausdMicro.toString(),
  })
}
