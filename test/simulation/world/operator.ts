import { RefundGiveUp, ReviewResolve } from '#shared/messages/payments'
import type { PaymentRow } from '../../../services/payments/payment.table'
import type { RefundOrderRow } from '../../../services/payments/review/resolution.store'
import { chance, oneOf, pick } from './choices'
import { askOne, type Copy, type Surroundings } from './services'

/** Most time in ms between two looks of the operators at what is in review. */
const lookMs = 6_000
const decisions = ['refund', 'refund', 'credit', 'accept'] as const
const sights = {
  refund: 'an operator chose refund',
  credit: 'an operator chose credit',
  accept: 'an operator chose accept',
  giveUp: 'an operator gave a refund up',
} as const

/**
 * Starts operators who decide about payments in review, at any moment and in any order, and give refunds up. Some decide at once about the same
 * payment, and some send a command again. Many payments wait until the faults are over, and some are never decided.
 */
export function startOperators(around: Surroundings, copiesOf: (service: string) => readonly Copy[]): void {
  const { world } = around
  const { choices } = world
  let commands = 0

  const command = (number: number) => ({
    command: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
    by: `operator ${number % 3}`,
    reason: 'by chance',
  })
  const ask = (asked: Parameters<typeof askOne>[2], sight: (typeof sights)[keyof typeof sights]) =>
    askOne(around, copiesOf('payments'), asked, ({ ok }) => {
      if (ok?.done) world.saw(sight)
      if (ok?.refused) world.saw('a decision of an operator was refused')
    })
  const decide = (paymentId: string, resolution: (typeof decisions)[number], number = ++commands) => {
    const request = { ...command(number), paymentId, resolution }
    if (!ask({ question: ReviewResolve, request }, sights[resolution])) return
    world.tell(`an operator decides to ${resolution} ${paymentId}`)
    if (chance(choices, 200)) world.after(oneOf(choices, 3_000), undefined, () => decide(paymentId, resolution, number))
  }
  const giveUp = ({ paymentId, reference }: RefundOrderRow) => {
    const request = { ...command(++commands), paymentId, reference }
    if (ask({ question: RefundGiveUp, request }, sights.giveUp)) world.tell(`an operator gives ${reference} up`)
  }
  const look = () => {
    const waiting = [...world.rows.payments.values()].filter(({ state }: PaymentRow) => state === 'review')
    for (const { id } of waiting) {
      if (!chance(choices, 150)) continue
      decide(id, pick(choices, decisions))
      if (chance(choices, 150)) decide(id, pick(choices, decisions))
    }
    for (const order of world.rows.refundOrders.values())
      if (order.state === 'open' && chance(choices, 100)) giveUp(order)
    if (!world.isCalm) world.after(oneOf(choices, lookMs), undefined, look)
  }
  look()
}
