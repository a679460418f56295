import { headers, type Msg, type NatsError } from 'nats'
import type { Bus } from '#shared/bus/open'
import { Overdue, within } from '#shared/deadline'
import {
  answerSchema,
  type Question,
  type ReadAnswerOf,
  type RequestOf,
} from '#shared/messages/topic'
import { type RefusalCode, refuse } from '#shared/refusals'
import { requestId, requestIdHeader } from '#shared/request-id'
import { readerOf } from '#shared/schema'

/** Nobody answers this question now: it was not handled. */
export class Unavailable extends Error {
  override name = 'Unavailable'
}
/** The other service failed while answering: unknown whether it acted. */
export class Faulted extends Error {
  override name = 'Faulted'
}

export type Ask = <Q extends Question>(
  question: Q,
  request: RequestOf<Q>,
  deadlineMs?: number,
) => Promise<ReadAnswerOf<Q>>

/** A little longer than the answering side allows itself, so that its own fault arrives first. */
const askDeadlineMs = 10_000

/** Longer than this a question waits only when it may be accepted meanwhile. */
const hangsAfterMs = 1_800

/** Throws `Unavailable` (not handled), `Overdue` or `Faulted` (unknown whether it was handled). */
export const asker =
  (bus: Bus, usualDeadlineMs = askDeadlineMs): Ask =>
  async (question, request, deadlineMs = usualDeadlineMs) => {
    if (deadlineMs > hangsAfterMs) await reached(bus, question)
    const reply = await send(bus, question, request, deadlineMs)
    const code = reply.headers?.get('Nats-Service-Error-Code')
    if (code)
      throw new Faulted(`${question.subject} failed: ${reply.headers?.get('Nats-Service-Error')}`)
    const read = schemaOf(question)(reply.json())
    if ('fault' in read) throw new Faulted(`${question.subject} answered badly: ${read.fault}`)
    return read.value as ReadAnswerOf<typeof question>
  }

/** Asks; when no answer comes in time, or a fault, the answer is the refusal `otherwise`. */
export async function askOr<Q extends Question>(
  ask: Ask,
  question: Q,
  request: RequestOf<Q>,
  otherwise: RefusalCode,
  deadlineMs?: number,
): Promise<ReadAnswerOf<Q>> {
  try {
    return await ask(question, request, deadlineMs)
  } catch (error) {
    const unanswered = [Unavailable, Faulted, Overdue].some((kind) => error instanceof kind)
    if (!unanswered) throw error
    return refuse(otherwise)
  }
}

/** A server that hangs is found before anything is sent: then it is sure that nothing was handled. */
async function reached({ nc }: Bus, { subject }: Question): Promise<void> {
  await within(nc.flush(), hangsAfterMs, 'nats').catch((cause) => {
    throw new Unavailable(`${subject} could not be asked`, { cause })
  })
}

async function send(
  bus: Bus,
  question: Question,
  request: unknown,
  deadlineMs: number,
): Promise<Msg> {
  const carried = headers()
  const id = requestId()
  if (id) carried.set(requestIdHeader, id)
  try {
    return await bus.nc.request(question.subject, JSON.stringify(request), {
      timeout: deadlineMs,
      headers: carried,
    })
  } catch (error) {
    const { code } = error as NatsError
    if (code === '503') throw new Unavailable(`${question.owner} is not there`, { cause: error })
    if (code === 'TIMEOUT') throw new Overdue(question.subject, deadlineMs)
    throw error
  }
}

const schemas = new WeakMap<Question, ReturnType<typeof answerSchema>>()
function schemaOf(question: Question) {
  const known = schemas.get(question) ?? answerSchema(question.answer)
  schemas.set(question, known)
  return readerOf(known)
}
