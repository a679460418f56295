import { Faulted, Unavailable } from '#platform/bus/ask'
import { DeadlinePassed } from '#platform/deadline'
import type { Log } from '#platform/log'
import type { Shown } from '#shared/messages/operations'
import type { Answer } from '#shared/refusals'

export type OperatorAnswer = { readonly shown: unknown } | { readonly fault: string; readonly status: 401 | 503 }

const faults = {
  token: { fault: 'The operations process has another console token.', status: 401 },
  unreadable: { fault: 'The database cannot be read right now.', status: 503 },
  silent: { fault: 'The operations process does not respond.', status: 503 },
} as const

/** Answers an operator's question. Never throws. */
export async function answerOperatorQuestion(asked: Promise<Answer<Shown>>, log: Log): Promise<OperatorAnswer> {
  try {
    const answer = await asked
    if ('refused' in answer) return faults.silent
    return 'shown' in answer.ok ? answer.ok : faults[answer.ok.fault]
  } catch (error) {
    const isUnanswered = [Unavailable, DeadlinePassed, Faulted].some((kind) => error instanceof kind)
    if (!isUnanswered) log.warn({ err: error }, 'console question failed')
    return faults.silent
  }
}
