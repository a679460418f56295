import { type Ask, Faulted, Unavailable } from '#shared/bus/ask'
import { Overdue } from '#shared/deadline'
import type { AnswerOf, Question, RequestOf } from '#shared/messages/topic'
import { type RefusalCode, refuse } from '#shared/refusals'

/** Three questions and the provider must fit into what the gateway waits. */
const deadlineMs = 1_500

/** Asks another service; that it does not answer becomes the refusal that says so. */
export async function askOr<Q extends Question>(
  ask: Ask,
  question: Q,
  request: RequestOf<Q>,
  otherwise: RefusalCode,
): Promise<AnswerOf<Q>> {
  try {
    return await ask(question, request, deadlineMs)
  } catch (error) {
    const silent = [Unavailable, Faulted, Overdue].some((kind) => error instanceof kind)
    if (!silent) throw error
    return refuse(otherwise)
  }
}
