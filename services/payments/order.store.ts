import type { Tx } from '#shared/db/open'
import { announce } from '#shared/db/outbox.store'
import { idFor } from '#shared/ids'
import { PaymentInReview, PaymentPaid, PaymentSettled } from '#shared/messages/payments'
import { CreditOrdered, RepayOrdered, RevokeOrdered } from '#shared/messages/relay'
import type { PaymentRow } from './payment.store'
import { outbox } from './schema.store'

/**
 * Orders what the money is for. A repeat by the sweeper carries an id of its own, so that neither
 * the broker nor the relayer's inbox drops it: the relayer knows its cause and acts once.
 */
export function orderEffect(tx: Tx, payment: PaymentRow, repeat = 0): Promise<void> {
  const { id: paymentId, wallet } = payment
  const ausd = payment.ausdMicro.toString()
  const idOf = (subject: string) =>
    idFor('message', `${subject}:${paymentId}${repeat === 0 ? '' : `:${repeat}`}`)
  if (payment.state === 'revoking')
    return announce(tx, outbox, RevokeOrdered, idOf(RevokeOrdered.subject), { paymentId, wallet })
  if (payment.kind === 'settlement') {
    const id = idOf(RepayOrdered.subject)
    return announce(tx, outbox, RepayOrdered, id, { paymentId, wallet, ausd })
  }
  const held = payment.held ?? true
  const id = idOf(CreditOrdered.subject)
  return announce(tx, outbox, CreditOrdered, id, { paymentId, wallet, ausd, held })
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
