import { headers, type Msg, ServiceErrorCodeHeader, ServiceErrorHeader, type Subscription } from 'nats'
import type { HandlingContext } from '#platform/bus/handling'
import { answerPresence, instanceSubject, leftSubject, questionIdHeader } from '#platform/bus/instances'
import type { Bus } from '#platform/bus/open'
import { endOfTurn } from '#platform/bus/queue'
import { decideDeadLetter } from '#platform/bus/redrive'
import { Malformed } from '#platform/bus/verdict'
import { openPersonReader, type Unseal } from '#platform/db/person'
import { within } from '#platform/deadline'
import type { Log } from '#platform/log'
import { answerMetrics, readingsFrom } from '#platform/metrics/answer'
import { shareFigures } from '#platform/metrics/figures'
import { quickSeconds, timer } from '#platform/metrics/measures'
import type { Metric } from '#platform/metrics/metric'
import { requestIdHeader, withRequestId } from '#platform/request-id'
import { schemaReader } from '#platform/schema'
import { inSpan, traceHeader } from '#platform/tracing/spans'
import { deadLetterDecisions } from '#shared/messages/dead-letters'
import { isOperatorCommand, type WorthOf } from '#shared/messages/operator-commands'
import { personReads } from '#shared/messages/person'
import type { AnswerOf, ProcessName, Question, ReadRequestOf } from '#shared/messages/topic'
import { ok } from '#shared/refusals'

export type Handler = {
  question: Question
  answer: (request: unknown) => Promise<unknown>
  /** Worth of an operator's command that gives money away. */
  worth?: WorthOf
}

/** Returns a handler of requests. One that does not match the schema throws `Malformed`. */
export const handler = <Q extends Question>(
  question: Q,
  answer: (request: ReadRequestOf<Q>) => Promise<AnswerOf<Q>>,
  worth?: WorthOf<Q>,
): Handler => ({
  question,
  ...(worth && { worth: worth as WorthOf }),
  answer: async (request) => {
    const read = schemaReader(question.request)(request)
    if ('fault' in read) throw new Malformed(read.fault)
    return answer(read.value as ReadRequestOf<Q>)
  },
})

const answerDeadlineMs = 9_000
const addDeadlineMs = 10_000

export type Served<F extends object = Record<string, unknown>> = {
  bus: Bus
  name: ProcessName
  description: string
  answers: readonly Handler[]
  /** Reads figures from the database (lag, oldest in flight, dead letters), for `nats micro stats --json`. */
  stats: () => Promise<F>
  readings?: (figures: F) => readonly Metric[]
  log: Log
  /** Puts an operator's command behind the check of who may do what. */
  commands?: (handler: Handler) => Handler
  /** Decrypts the encrypted columns of a row for its owner's export. */
  unseal?: Unseal
} & Partial<Keeping>

type Keeping = Pick<HandlingContext, 'database' | 'messaging'>

function answersToOperators({
  name,
  database,
  messaging,
  log,
}: Pick<Served, 'name' | 'database' | 'messaging' | 'log'>): Handler[] {
  if (!database || !messaging || !Object.hasOwn(deadLetterDecisions, name)) return []
  const reader = name as keyof typeof deadLetterDecisions
  const decide = decideDeadLetter(reader, { database, messaging, log })
  return [handler(deadLetterDecisions[reader], decide)]
}

function answersAboutPeople({ name, database, unseal }: Pick<Served, 'name' | 'database' | 'unseal'>): Handler[] {
  if (!database || !Object.hasOwn(personReads, name)) return []
  const read = openPersonReader(database, name, unseal)
  return [
    handler(personReads[name as keyof typeof personReads], async ({ wallet, after }) =>
      ok(await read({ wallet, ...(after && { after }) })),
    ),
  ]
}

/** Puts every operator's command behind the one check of who may do what. Throws if the process has no rules for it. */
function guardedAll({ name, commands }: Pick<Served, 'name' | 'commands'>, handlers: readonly Handler[]): Handler[] {
  if (commands) return handlers.map(commands)
  const command = handlers.find(({ question }) => isOperatorCommand(question))
  if (command) throw new Error(`${name} answers ${command.question.subject} without rules for operators`)
  return [...handlers]
}

/**
 * Share of the five seconds of an orderly shutdown that is left for responses, in ms. Connections are closed in the
 * rest.
 */
const lastAnswersMs = 3_500

/** Serves requests until disposed, which waits for the responses to accepted ones. */
export async function serve<F extends object>(options: Served<F>): Promise<AsyncDisposable> {
  const figures = shareFigures(options.stats)
  const answers = guardedAll(options, [
    ...options.answers,
    ...answersToOperators(options),
    ...answersAboutPeople(options),
  ])
  const tallies = new Map(answers.map(({ question }) => [question.subject, openTally()]))
  const adding = options.bus.nc.services.add({
    name: options.name,
    version: '1.0.0',
    description: options.description,
    metadata: { pid: String(process.pid) },
    statsHandler: async (endpoint) => {
      const { subject } = endpoint
      Object.assign((endpoint as unknown as { stats: Counts }).stats, tallies.get(subject)?.counts())
      // Only the first endpoint reports the figures, because they are the instance's.
      if (subject !== answers[0]?.question.subject) return undefined
      return figures().catch((error: Error) => ({ unavailable: error.message }))
    },
  })
  const service = await within(adding, addDeadlineMs, 'the services API')
  const { bus, name, log, readings = () => [] } = options
  const read = readingsFrom(figures, readings)
  const metrics = answerMetrics(bus, { service: name, log, figures: read })
  const underWay = new Map<string, Promise<void>>()
  const ofThisCopy: Subscription[] = []
  for (const answer of answers) {
    const { subject } = answer.question
    const tally = tallies.get(subject)!
    // nats 2.29 neither awaits an async handler nor catches its rejection (measured).
    const take = (error: Error | null, message: Msg) => {
      if (error) return options.log.error({ err: error, subject }, 'request could not be received')
      const id = message.headers?.get(questionIdHeader) || message.reply || ''
      const startedMs = performance.now()
      const answered = respond(options, answer, message)
        .then((failure) => tally.count(performance.now() - startedMs, failure))
        .finally(() => underWay.delete(id))
      underWay.set(id, answered)
    }
    service.addEndpoint(subject.replaceAll('.', '-'), { subject, handler: take })
    if (!answer.question.repeat) continue
    const named = instanceSubject(options.name, options.bus.copy, subject)
    ofThisCopy.push(options.bus.nc.subscribe(named, { callback: take }))
  }
  const presence = answerPresence(options.bus, options.name, {
    isWorkingOn: (id) => underWay.has(id),
    isLeaving: () => service.isStopped,
  })
  // Until the server has processed the subscriptions, requests find no responder.
  await within(bus.nc.flush(), addDeadlineMs, 'the subscriptions')
  const end = async () => {
    await Promise.all([service.stop(), ...ofThisCopy.map((subscription) => subscription.drain())])
    await Promise.all(underWay.values())
    await Promise.all([presence.drain(), metrics.drain()])
    options.bus.nc.publish(leftSubject(options.name), service.info().id)
    await options.bus.nc.flush()
  }
  return {
    [Symbol.asyncDispose]: () =>
      within(end(), lastAnswersMs, 'the last answers').catch((error) =>
        options.log.warn({ err: error, unanswered: underWay.size }, 'stopped with requests unanswered'),
      ),
  }
}

/** Figures of an endpoint in `nats micro stats`, with durations in ns. */
type Counts = {
  readonly num_requests: number
  readonly num_errors: number
  readonly last_error: string | undefined
  readonly processing_time: number
  readonly average_processing_time: number
}

/** Opens the figures of an endpoint. The library's own end when the handler has returned its promise, and miss its errors. */
function openTally() {
  let [requests, errors, ns, last] = [0, 0, 0, undefined as string | undefined]
  return {
    count: (tookMs: number, failure: string | undefined) => {
      requests++
      ns += Math.round(tookMs * 1e6)
      if (failure === undefined) return
      errors++
      last = failure
    },
    counts: (): Counts => ({
      num_requests: requests,
      num_errors: errors,
      last_error: last,
      processing_time: ns,
      average_processing_time: requests === 0 ? 0 : Math.round(ns / requests),
    }),
  }
}

/** Answers a request. Returns the error that the caller got, or undefined. */
async function respond(
  { log }: Pick<Served, 'log'>,
  { question, answer }: Handler,
  message: Msg,
): Promise<string | undefined> {
  const { subject } = question
  const startedMs = performance.now()
  const tell = (outcome: AnswerOutcome) => answers.since(startedMs, { question: subject, outcome })
  const id = message.headers?.get(requestIdHeader)
  try {
    const request: unknown = message.json()
    const words = { kind: 'server', parent: message.headers?.get(traceHeader) } as const
    const work = () => within(answer(request), answerDeadlineMs, subject)
    const answered = await withRequestId(id, () => inSpan(`answer ${subject}`, words, work))
    const text = JSON.stringify(answered)
    tell(isRefusal(answered) ? 'refused' : 'answered')
    await endOfTurn()
    message.respond(text)
    return undefined
  } catch (error) {
    const isMalformed = error instanceof Malformed
    tell(isMalformed ? 'malformed' : 'failed')
    if (!isMalformed) log.error({ err: error, subject, requestId: id }, 'request failed')
    return isMalformed ? refuseAs(message, 400, error.message) : refuseAs(message, 500, 'failed')
  }
}

const outcomes = ['answered', 'refused', 'malformed', 'failed'] as const
type AnswerOutcome = (typeof outcomes)[number]

const answers = timer({
  what: 'answer_duration',
  help: 'Duration of handling a NATS request in the handler service, in seconds.',
  labels: { question: { atMost: 40 }, outcome: outcomes },
  buckets: quickSeconds,
})

const isRefusal = (answered: unknown): boolean =>
  typeof answered === 'object' && answered !== null && 'refused' in answered

function refuseAs(message: Msg, code: number, why: string): string {
  const carried = headers()
  carried.set(ServiceErrorCodeHeader, String(code))
  carried.set(ServiceErrorHeader, why.replace(/[\r\n]+/g, ' ')) // nats refuses line breaks in headers.
  message.respond(undefined, { headers: carried })
  return `${code}: ${why}`
}
