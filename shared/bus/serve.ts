import { headers, type ServiceMsg } from 'nats'
import type { Bus } from '#shared/bus/open'
import { Malformed } from '#shared/bus/verdict'
import { within } from '#shared/deadline'
import type { Log } from '#shared/log'
import type { AnswerOf, Question, ReadRequestOf, ServiceName } from '#shared/messages/topic'
import { requestIdHeader, withRequestId } from '#shared/request-id'
import { readerOf } from '#shared/schema'

export type Answering = { question: Question; answer: (request: unknown) => Promise<unknown> }

/** Ties a question to the function that answers it. A request of another form throws `Malformed`. */
export const answering = <Q extends Question>(
  question: Q,
  answer: (request: ReadRequestOf<Q>) => Promise<AnswerOf<Q>>,
): Answering => ({
  question,
  answer: async (request) => {
    const read = readerOf(question.request)(request)
    if ('fault' in read) throw new Malformed(read.fault)
    return answer(read.value as ReadRequestOf<Q>)
  },
})

const answerDeadlineMs = 9_000
/** A service that cannot be listed ends, and is started again. */
const addDeadlineMs = 10_000

export type Served = {
  bus: Bus
  name: ServiceName
  description: string
  answers: readonly Answering[]
  /** Figures from the rows (lag, oldest in flight, dead letters), shown by `nats micro stats`. */
  stats: () => Promise<Record<string, unknown>>
  log: Log
}

/** A stop in order may take five seconds, closing what is open included. */
const lastAnswersMs = 3_500

/**
 * Registers the service with the NATS services API; many copies share the work by queue group.
 * Disposing it asks for no more questions, and waits for the answers of those that came.
 */
export async function serve(options: Served): Promise<AsyncDisposable> {
  const adding = options.bus.nc.services.add({
    name: options.name,
    version: '1.0.0',
    description: options.description,
    metadata: { pid: String(process.pid) },
    statsHandler: () => options.stats().catch((error: Error) => ({ unavailable: error.message })),
  })
  const service = await within(adding, addDeadlineMs, 'the services API')
  const underWay = new Set<Promise<void>>()
  for (const answer of options.answers) {
    const { subject } = answer.question
    service.addEndpoint(subject.replaceAll('.', '-'), {
      subject,
      // nats 2.29 neither awaits an async handler nor catches its rejection (measured).
      handler: (error, message) => {
        if (error) options.log.error({ err: error, subject }, 'question could not be received')
        else {
          const answered = respond(options, answer, message).finally(() =>
            underWay.delete(answered),
          )
          underWay.add(answered)
        }
      },
    })
  }
  const end = async () => {
    // What had reached this copy before it was left out comes first.
    await service.stop()
    await Promise.all(underWay)
    await options.bus.nc.flush()
  }
  return {
    [Symbol.asyncDispose]: () =>
      within(end(), lastAnswersMs, 'the last answers').catch((error) =>
        options.log.warn(
          { err: error, unanswered: underWay.size },
          'stopped without answering all',
        ),
      ),
  }
}

async function respond(options: Served, { question, answer }: Answering, message: ServiceMsg) {
  const id = message.headers?.get(requestIdHeader)
  const carried = headers()
  if (id) carried.set(requestIdHeader, id)
  try {
    const request: unknown = message.json()
    const work = withRequestId(id, () =>
      within(answer(request), answerDeadlineMs, question.subject),
    )
    message.respond(JSON.stringify(await work), { headers: carried })
  } catch (error) {
    if (error instanceof Malformed) return void message.respondError(400, error.message)
    options.log.error({ err: error, subject: question.subject, requestId: id }, 'question failed')
    message.respondError(500, 'failed')
  }
}
