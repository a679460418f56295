import type { Ask } from '#shared/bus/ask'
import { failpoint } from '#shared/failpoint'
import type { Question, ReadAnswerOf, RequestOf } from '#shared/messages/topic'
import { acceptingDeadlineMs } from './deadline'

/** Hands what somebody ordered to its owner, and waits as long as it may take to be accepted. */
export async function place<Q extends Question>(
  ask: Ask,
  question: Q,
  order: RequestOf<Q>,
): Promise<ReadAnswerOf<Q>> {
  failpoint('gateway:order-read')
  const answer = await ask(question, order, acceptingDeadlineMs)
  failpoint('gateway:order-answered')
  return answer
}
