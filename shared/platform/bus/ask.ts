import { headers, type Msg } from 'nats'
import { findInstances, instanceSubject, questionIdHeader } from '#platform/bus/instances'
import type { Bus } from '#platform/bus/open'
import { NobodyThere, openRequests, type Requests, type SentRequest } from '#platform/bus/requests'
import { DeadlinePassed, within } from '#platform/deadline'
import { quickSeconds, timer } from '#platform/metrics/measures'
import { requestId, requestIdHeader } from '#platform/request-id'
import { schemaReader } from '#platform/schema'
import { carriedTrace, inSpan, traceHeader } from '#platform/tracing/spans'
import { answerSchema, type Question, type ReadAnswerOf, type RequestOf } from '#shared/messages/topic'
import { type RefusalCode, refuse } from '#shared/refusals'

/** Error of a request that was not handled. */
export class Unavailable extends Error {
  override name = 'Unavailable'
}
/** Error of a request on which the other service may or may not have acted. */
export class Faulted extends Error {
  override name = 'Faulted'
}

/** Longest wait in ms. With `quietMs`, the wait also ends once no instance reports its presence after that time. */
export type AnswerPatience = number | { readonly deadlineMs: number; readonly quietMs: number }

const deadlineOf = (patience: AnswerPatience): number => (typeof patience === 'number' ? patience : patience.deadlineMs)

export type Ask = <Q extends Question>(
  question: Q,
  request: RequestOf<Q>,
  patience?: AnswerPatience,
) => Promise<ReadAnswerOf<Q>>

/** Longest wait by default, in ms. It exceeds the deadline of the handler, so that the error of that arrives first. */
const askDeadlineMs = 10_000

/** Deadline in ms above which a request first checks that the server can be reached. */
const hangsAfterMs = 1_800

/**
 * Returns a function that sends requests. It throws `Unavailable` (not handled), `DeadlinePassed` or `Faulted` (unknown
 * whether it was handled).
 */
export function asker(bus: Bus, usualDeadlineMs = askDeadlineMs): Ask {
  const asking = { bus, requests: openRequests(bus) }
  return async <Q extends Question>(question: Q, request: RequestOf<Q>, patience?: AnswerPatience) => {
    const startedMs = performance.now()
    const tell = (outcome: QuestionOutcome) => questions.since(startedMs, { question: question.subject, outcome })
    try {
      const answer = await inSpan(`ask ${question.subject}`, { kind: 'client' }, () =>
        askOnce(asking, question, request, patience ?? usualDeadlineMs),
      )
      tell('refused' in answer ? 'refused' : 'answered')
      return answer as ReadAnswerOf<Q>
    } catch (error) {
      tell(outcomeOf(error))
      throw error
    }
  }
}

type Asking = { readonly bus: Bus; readonly requests: Requests }

async function askOnce(
  asking: Asking,
  question: Question,
  request: unknown,
  patience: AnswerPatience,
): Promise<object> {
  if (deadlineOf(patience) > hangsAfterMs) await reached(asking.bus, question)
  const reply = await send(asking, question, request, patience)
  const code = reply.headers?.get('Nats-Service-Error-Code')
  if (code) throw new Faulted(`${question.subject} failed: ${reply.headers?.get('Nats-Service-Error')}`)
  const read = schemaOf(question)(reply.json())
  if ('fault' in read) throw new Faulted(`${question.subject} returned an invalid response: ${read.fault}`)
  return read.value as object
}

const outcomes = ['answered', 'refused', 'unavailable', 'overdue', 'failed'] as const
type QuestionOutcome = (typeof outcomes)[number]

const questions = timer({
  what: 'question_duration',
  help: 'Duration of a NATS request as seen by the caller, in seconds.',
  labels: { question: { atMost: 40 }, outcome: outcomes },
  buckets: quickSeconds,
})

function outcomeOf(error: unknown): QuestionOutcome {
  if (error instanceof Unavailable) return 'unavailable'
  return error instanceof DeadlinePassed ? 'overdue' : 'failed'
}

/** Sends a request and returns the refusal `otherwise` on a timeout or fault. */
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
    const unanswered = [Unavailable, Faulted, DeadlinePassed].some((kind) => error instanceof kind)
    if (!unanswered) throw error
    return refuse(otherwise)
  }
}

/** Detects a hanging server before anything is sent. Throws `Unavailable`. */
async function reached({ nc }: Bus, { subject }: Question): Promise<void> {
  await within(nc.flush(), hangsAfterMs, 'nats').catch((cause) => {
    throw new Unavailable(`${subject} could not be sent: NATS is not responding`, { cause })
  })
}

async function send(
  { bus, requests }: Asking,
  question: Question,
  asked: unknown,
  patience: AnswerPatience,
): Promise<Msg> {
  const deadlineMs = deadlineOf(patience)
  const body = JSON.stringify(asked)
  const cause = requestId()
  const carried = [
    [requestIdHeader, cause],
    [traceHeader, carriedTrace()],
  ] as const
  const first = requests.send(question.subject, body, {
    headers: cause ? headersOf(...carried) : undefined,
    timeoutMs: deadlineMs,
  })
  try {
    if (!question.repeat || deadlineMs <= usualQuietMs) return await first.answer
    const again = (subject: string, timeoutMs: number) =>
      requests.send(subject, body, {
        headers: headersOf([questionIdHeader, first.id], ...carried),
        timeoutMs,
      })
    return await hedge(bus, question, { first, again }, patience)
  } catch (error) {
    if (error instanceof NobodyThere) throw new Unavailable(`${question.owner} is not running`, { cause: error })
    throw error
  }
}

/** Returns the headers that have a value, because each header costs both sides some microseconds. */
function headersOf(...pairs: readonly (readonly [string, string | undefined])[]) {
  const carried = headers()
  for (const [name, value] of pairs) if (value) carried.set(name, value)
  return carried
}

type Sending = {
  readonly first: SentRequest
  readonly again: (subject: string, deadlineMs: number) => SentRequest
}

const usualQuietMs = 500
/** Time in ms after which an instance that has not reported its presence counts as frozen, even if it is only busy. */
const presenceMs = 150

/**
 * Polls the owner's instances after half a second of silence. While one reports that it works on the request, no other
 * gets it, so a slow system gets no double load. If none does, a free one gets it too.
 */
async function hedge(
  bus: Bus,
  { owner, subject }: Question,
  { first, again }: Sending,
  patience: AnswerPatience,
): Promise<Msg> {
  const isHasty = typeof patience !== 'number'
  const { deadlineMs, quietMs } = isHasty ? patience : { deadlineMs: patience, quietMs: usualQuietMs }
  const endsAt = performance.now() + deadlineMs
  const leftMs = () => endsAt - performance.now()
  const answered = Promise.withResolvers<Msg>()
  first.answer.then(answered.resolve, answered.reject)
  let timer: Timer | undefined
  let ended = false
  const lookAfter = (restMs: number) => {
    if (!ended && restMs < leftMs()) timer = setTimeout(() => void lookAgain(restMs), restMs)
  }
  const lookAgain = async (restMs: number) => {
    const copies = await findInstances(bus, owner, { questionId: first.id, withinMs: presenceMs })
    if (isHasty && copies.length === 0) answered.reject(new DeadlinePassed(subject, deadlineMs - leftMs()))
    const [free] = copies.some(({ isWorking }) => isWorking) ? [] : copies
    if (free && leftMs() > 0 && !ended) {
      // The instance that gets the repeat reports the request as its own at the next poll.
      const other = again(instanceSubject(owner, free.copy, subject), leftMs())
      other.answer.then(answered.resolve, () => {})
    }
    lookAfter(2 * restMs)
  }
  lookAfter(quietMs)
  try {
    return await answered.promise
  } finally {
    ended = true
    clearTimeout(timer)
  }
}

const schemas = new WeakMap<Question, ReturnType<typeof answerSchema>>()
function schemaOf(question: Question) {
  const known = schemas.get(question) ?? answerSchema(question.answer)
  schemas.set(question, known)
  return schemaReader(known)
}
