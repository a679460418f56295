import type { Ask } from '#platform/bus/ask'
import { failpoint } from '#platform/failpoint'
import type { Question, ReadAnswerOf, RequestOf } from '#shared/messages/topic'
import { acceptingDeadlineMs } from './deadline'

/** Sends an order, and waits until its owner accepts or refuses it. */
export async function placeOrder<Q extends Question>(
  ask: Ask,
  question: Q,
  order: RequestOf<Q>,
): Promise<ReadAnswerOf<Q>> {
  failpoint('gateway:order-read')
  const answer = await ask(question, order, acceptingDeadlineMs)
  failpoint('gateway:order-answered')
  return answer
}
