import { expect } from 'bun:test'
import type { Stack } from '#infra/local/stack'
import { RelayingPause } from '#shared/messages/chain'
import { deadLetterDecisions } from '#shared/messages/dead-letters'
import { TopupsPause } from '#shared/messages/payments'
import { PayoutsPause } from '#shared/messages/payouts'
import { personErasures } from '#shared/messages/person'
import type { Question, RequestOf } from '#shared/messages/topic'
import { query } from '../support/database'
import { askEveryCopy } from './twice'

/** Commands that several services have. Each takes effect once, even if both instances receive it. */
export const pauses = [TopupsPause, PayoutsPause, RelayingPause] as const
export const decisions = Object.entries(deadLetterDecisions)
export const erasures = Object.entries(personErasures)
export const commandOf = () => ({ command: crypto.randomUUID(), by: 'sari', reason: 'two copies' })

/** Sends a command to both instances, which must agree on `done` or `refused`. */
export async function outcomeOf<Q extends Question>(stack: Stack, question: Q, request: RequestOf<Q>): Promise<string> {
  const answers = (await askEveryCopy(stack, question, request)) as unknown as { ok: object }[]
  expect(answers).toHaveLength(2)
  const outcomes = new Set(answers.flatMap(({ ok }) => Object.keys(ok)))
  expect(outcomes.size).toBe(1)
  return [...outcomes][0]!
}

export async function giveUpOne(stack: Stack, service: string) {
  const messageId = `given-up-${crypto.randomUUID()}`
  const [row] = await query<{ diedAt: Date }>(
    stack,
    `insert into ${service.replace('-', '_')}.dead_letter (consumer, message_id, subject, payload, reason)
     values ('${service}', '${messageId}', 'old', '{}', 'a suite') returning died_at as "diedAt"`,
  )
  return { messageId, diedAt: row!.diedAt.toISOString() }
}
