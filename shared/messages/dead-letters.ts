import { Type } from 'typebox'
import { Timestamp } from '#shared/messages/fields'
import { CommandOutcome, operatorCommandFields } from '#shared/messages/operator-commands'
import { type Question, question, type ServiceName } from '#shared/messages/topic'

const deciding = (subject: string, owner: ServiceName) =>
  question(subject, owner, ['ops'], {
    request: Type.Object({
      ...operatorCommandFields,
      decision: Type.Enum(['redrive', 'dismiss']),
      messageId: Type.String(),
      /** Time of the dead-lettering that the decision is about, because a later one needs a new decision. */
      diedAt: Timestamp,
    }),
    answer: CommandOutcome,
    gives: 'nothing',
    repeat: 'once by its key',
  })

/** Decisions per service. Services that are not listed read no messages. */
export const deadLetterDecisions = {
  gateway: deciding('gateway.dead-letter.decide', 'gateway'),
  payments: deciding('payments.dead-letter.decide', 'payments'),
  payouts: deciding('payouts.dead-letter.decide', 'payouts'),
  'chain-relayer': deciding('chain.dead-letter.decide', 'chain-relayer'),
} as const satisfies Partial<Record<ServiceName, Question>>
export type DeadLetterDecision = ReturnType<typeof deciding>
export type LetterReader = keyof typeof deadLetterDecisions
