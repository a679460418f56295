import { headers, type Msg, type NatsError } from 'nats'
import { copySubject, findCopies, newQuestionId, questionIdHeader } from '#shared/bus/copies'
import type { Bus } from '#shared/bus/open'
import { Overdue, pause, within } from '#shared/deadline'
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

/**
 * How long an answer is waited for: ms, or a deadline within which it is given up as soon as, after
 * `quietMs` without an answer, no copy of the service says that it is there.
 */
export type Patience = number | { readonly deadlineMs: number; readonly quietMs: number }

export type Ask = <Q extends Question>(
  question: Q,
  request: RequestOf<Q>,
  patience?: Patience,
) => Promise<ReadAnswerOf<Q>>

/** A little longer than the answering side allows itself, so that its own fault arrives first. */
const askDeadlineMs = 10_000

/** Longer than this a question waits only when it may be accepted meanwhile. */
const hangsAfterMs = 1_800

/** Throws `Unavailable` (not handled), `Overdue` or `Faulted` (unknown whether it was handled). */
export const asker =
  (bus: Bus, usualDeadlineMs = askDeadlineMs): Ask =>
  async (question, request, patience = usualDeadlineMs) => {
    const deadlineMs = typeof patience === 'number' ? patience : patience.deadlineMs
    if (deadlineMs > hangsAfterMs) await reached(bus, question)
    const reply = await send(bus, question, request, patience)
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

/** A question on its way: what is said, and how one copy or all of them are asked. */
type Sending = {
  readonly id: string
  readonly request: (subject: string, deadlineMs: number) => Promise<Msg>
}

async function send(
  bus: Bus,
  question: Question,
  asked: unknown,
  patience: Patience,
): Promise<Msg> {
  const { deadlineMs } = typeof patience === 'number' ? { deadlineMs: patience } : patience
  const id = newQuestionId()
  const carried = headers()
  carried.set(questionIdHeader, id)
  const cause = requestId()
  if (cause) carried.set(requestIdHeader, cause)
  const body = JSON.stringify(asked)
  const request = (subject: string, timeout: number) =>
    bus.nc.request(subject, body, { timeout, headers: carried })
  try {
    const first = request(question.subject, deadlineMs)
    if (!question.repeat || deadlineMs <= usualQuietMs) return await first
    return await orElsewhere(bus, question, { id, request }, first, patience)
  } catch (error) {
    const { code } = error as NatsError
    if (code === '503') throw new Unavailable(`${question.owner} is not there`, { cause: error })
    if (code === 'TIMEOUT') throw new Overdue(question.subject, deadlineMs)
    throw error
  }
}

/** A copy that works answers most questions much sooner. */
const usualQuietMs = 500
/** A copy that lives says so within this; one that is too busy to, counts as frozen. */
const presenceMs = 150

/**
 * The first answer there is, of `first` or of another copy. A question that is quiet for half a
 * second is looked for: while a copy says that it works on it, however slowly, it is asked of nobody
 * else, so that a slow system is not asked for twice the work. If none does, the copy that has it is
 * frozen or gone, and one that is there is asked.
 */
async function orElsewhere(
  bus: Bus,
  { owner, subject }: Question,
  { id, request }: Sending,
  first: Promise<Msg>,
  patience: Patience,
): Promise<Msg> {
  const isHasty = typeof patience !== 'number'
  const { deadlineMs, quietMs } = isHasty
    ? patience
    : { deadlineMs: patience, quietMs: usualQuietMs }
  const endsAt = performance.now() + deadlineMs
  const leftMs = () => endsAt - performance.now()
  const answered = Promise.withResolvers<Msg>()
  first.then(answered.resolve, answered.reject)
  const ended = new AbortController()
  const look = async (): Promise<void> => {
    const copies = await findCopies(bus, owner, { questionId: id, withinMs: presenceMs })
    if (isHasty && copies.length === 0) answered.reject(new Overdue(subject, deadlineMs - leftMs()))
    const [free] = copies.some(({ isWorking }) => isWorking) ? [] : copies
    if (free && leftMs() > 0 && !ended.signal.aborted) {
      // Whoever is asked now says so when the question is looked for again.
      const again = request(copySubject(owner, free.copy, subject), leftMs())
      again.then(answered.resolve, () => {})
    }
  }
  const lookAgain = async () => {
    for (let restMs = quietMs; restMs < leftMs(); restMs *= 2) {
      await pause(restMs, ended.signal)
      if (ended.signal.aborted) return
      await look()
    }
  }
  void lookAgain()
  try {
    return await answered.promise
  } finally {
    ended.abort()
  }
}

const schemas = new WeakMap<Question, ReturnType<typeof answerSchema>>()
function schemaOf(question: Question) {
  const known = schemas.get(question) ?? answerSchema(question.answer)
  schemas.set(question, known)
  return readerOf(known)
}
