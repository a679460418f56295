import { ReviewResolve } from '#shared/messages/payments'
import type { PaymentRow } from '../../../services/payments/payment.table'
import { chance, oneOf, pick } from './choices'
import { askOne, type Copy, type Surroundings } from './services'

/** Most time in ms between two looks of the operators at what is in review. */
const lookMs = 6_000
const decisions = ['refund', 'refund', 'credit', 'accept'] as const
const sights = {
  refund: 'an operator chose refund',
  credit: 'an operator chose credit',
  accept: 'an operator chose accept',
} as const

/**
 * Starts operators who decide about payments in review, at any moment and in any order. Some decide at once about the same
 * payment, and some send a command again. Many payments wait until the faults are over, and some are never decided.
 */
export function startOperators(around: Surroundings, copiesOf: (service: string) => readonly Copy[]): void {
  const { world } = around
  const { choices } = world
  let commands = 0

  const decide = (paymentId: string, resolution: (typeof decisions)[number], command = ++commands) => {
    const id = `00000000-0000-4000-8000-${String(command).padStart(12, '0')}`
    const request = { command: id, by: `operator ${command % 3}`, reason: 'by chance', paymentId, resolution }
    const asked = { question: ReviewResolve, request }
    const isAsked = askOne(around, copiesOf('payments'), asked, (answer) => noteAnswer(resolution, answer))
    if (!isAsked) return
    world.tell(`an operator decides to ${resolution} ${paymentId}`)
    if (chance(choices, 200))
      world.after(oneOf(choices, 3_000), undefined, () => decide(paymentId, resolution, command))
  }
  const noteAnswer = (resolution: keyof typeof sights, { ok }: { readonly ok?: Readonly<Record<string, string>> }) => {
    if (ok?.done) world.saw(sights[resolution])
    if (ok?.refused) world.saw('a decision of an operator was refused')
  }
  const look = () => {
    const waiting = [...world.rows.payments.values()].filter(({ state }: PaymentRow) => state === 'review')
    for (const { id } of waiting) {
      if (!chance(choices, 150)) continue
      decide(id, pick(choices, decisions))
      if (chance(choices, 150)) decide(id, pick(choices, decisions))
    }
    if (!world.isCalm) world.after(oneOf(choices, lookMs), undefined, look)
  }
  look()
}
