import type { ConsumerMessages, JsMsg, NatsError } from 'nats'
import { type HandlingContext, handle, topicOf } from '#platform/bus/handling'
import type { Bus } from '#platform/bus/open'
import { startRedriving } from '#platform/bus/redrive'
import { retryMaxMs } from '#platform/bus/verdict'
import { isRecent, steadyClock } from '#platform/clock'
import { type LogThrottled, openLogThrottled } from '#platform/log'
import { startLoop } from '#platform/loop'
import { gauge } from '#platform/metrics/measures'
import { requestIdHeader, withRequestId } from '#platform/request-id'
import { inSpan, traceHeader } from '#platform/tracing/spans'
import type { Topic } from '#shared/messages/topic'

/** Messages processed at a time. Prefetching more causes redeliveries of waiting messages (measured). */
const concurrency = 8
const reopenEveryMs = 500
const watchEveryMs = 15_000
const goneEveryMs = 60_000
/** Longest normal silence in ms: while `max_ack_pending` messages wait for their retries, none is delivered. */
const silenceMaxMs = 1.5 * retryMaxMs

type Consumption = HandlingContext & {
  bus: Bus
  /** Callback when messages are pending but none is delivered: the process must exit and be restarted. */
  onFatal: () => void
}

/**
 * Consumes messages until disposed, which waits for work in progress. The name keys inbox and dead letters, so it has
 * one set of reactions.
 */
export function consume(options: Consumption): AsyncDisposable {
  const streams = new Set(options.reactions.map(({ topic }) => topic.stream))
  const logSeldom = openLogThrottled(options.log, steadyClock, goneEveryMs)
  const parts = [
    startRedriving(options),
    ...[...streams].map((stream) =>
      readDurable({
        ...options,
        stream,
        logSeldom,
        atATime: concurrency,
        silenceMaxMs,
        deliver: (message) => handleDelivery({ ...options, stream }, message),
      }),
    ),
  ]
  return {
    [Symbol.asyncDispose]: async () => {
      await Promise.all(parts.map((part) => part[Symbol.asyncDispose]()))
    },
  }
}

export type DurableReading = Pick<Consumption, 'bus' | 'consumer' | 'log' | 'onFatal'> & {
  stream: Topic['stream']
  logSeldom: LogThrottled
  /** Maximum number of messages in progress. As many more are prefetched. */
  atATime: number
  /** Longest normal silence in ms while messages are pending. */
  silenceMaxMs: number
  /** Does the work of a message and acknowledges it, or has it delivered again. Never throws. */
  deliver: (message: JsMsg) => Promise<void>
}

/** Reads a durable consumer until disposed, which waits for work in progress. */
export function readDurable(options: DurableReading): AsyncDisposable {
  const { consumer, stream, log } = options
  const state: State = { silentSince: performance.now(), messages: undefined }
  const loops = [
    startLoop({
      name: `consume ${stream} as ${consumer}`,
      everyMs: reopenEveryMs,
      log,
      work: (signal) => read(options, state, signal),
    }),
    startLoop({
      name: `watch ${stream} as ${consumer}`,
      everyMs: watchEveryMs,
      log,
      work: (signal) => watch(options, state, signal),
    }),
  ]
  return {
    [Symbol.asyncDispose]: async () => {
      const ended = loops.map((loop) => loop[Symbol.asyncDispose]())
      await state.messages?.close()
      await Promise.all(ended)
    },
  }
}

type State = {
  /** Time of the last delivery, or of a later look that found nothing waiting or could not tell. */
  silentSince: number
  messages: ConsumerMessages | undefined
}

/** Reads messages. The iterator may end (stream recreated, consumer briefly gone); the loop then opens a new one. */
async function read(options: DurableReading, state: State, signal: AbortSignal) {
  const consumer = await options.bus.js.consumers.get(options.stream, options.consumer)
  state.messages = await consumer.consume({ max_messages: options.atATime, expires: 5_000 })
  // The loop was disposed in the meantime. The promise of `close` resolves only once all messages are read, below.
  if (signal.aborted) void state.messages.close()
  await drain(options, state, state.messages)
}

async function drain({ atATime, deliver }: DurableReading, state: State, messages: ConsumerMessages) {
  const working = new Set<Promise<void>>()
  for await (const message of messages) {
    state.silentSince = performance.now()
    const work = deliver(message).finally(() => working.delete(work))
    working.add(work)
    if (working.size >= atATime) await Promise.race(working)
  }
  await Promise.all(working)
}

/** Returns true if Postgres can store and index the id: it stores no NUL, and indexes at most 2,700 bytes. */
const isStorable = (id: string): boolean => id !== '' && !id.includes('\0') && Buffer.byteLength(id) <= 2_000

/** Age of a stored message in ms up to which its first delivery is that of a consumer that has never been lost. */
const freshMs = 10_000

const isFresh = ({ info, redelivered }: JsMsg): boolean =>
  !redelivered && isRecent(info.timestampNanos / 1e6, Date.now(), freshMs)

async function handleDelivery(options: Consumption & Pick<DurableReading, 'stream'>, message: JsMsg): Promise<void> {
  const id = message.headers?.get('Nats-Msg-Id') ?? ''
  const messageId = isStorable(id) ? id : `${options.stream}:${message.seq}`
  const incoming = {
    subject: message.subject,
    messageId,
    payload: payloadOf(message),
    isFresh: isFresh(message),
  }
  const parent = message.headers?.get(traceHeader)
  const words = {
    kind: 'consumer',
    parent,
    attributes: { 'messaging.message.id': messageId },
  } as const
  const outcome = await withRequestId(message.headers?.get(requestIdHeader), () =>
    inSpan(`handle ${topicOf(options, incoming)}`, words, () => handle(options, incoming)),
  )
  if (outcome === 'done') message.ack()
  else message.nak(outcome.retryInMs)
}

/** Returns the payload. Invalid JSON is passed on as text, which its schema rejects. */
function payloadOf(message: JsMsg): unknown {
  try {
    return message.json()
  } catch {
    return message.string()
  }
}

/** Errors of JetStream for a consumer and for a stream that do not exist. */
const missingCodes: ReadonlySet<number | undefined> = new Set([10_014, 10_059])
export const isMissing = (error: NatsError): boolean => missingCodes.has(error.api_error?.err_code)

const missing = gauge({
  what: 'consumer_missing',
  help: '1 if a durable consumer is gone, 0 if it is there.',
  labels: { stream: { atMost: 10 }, consumer: { atMost: 10 } },
})

/** Ends the process if messages have waited for `silenceMaxMs` and none was delivered. */
export async function watch(
  options: Omit<DurableReading, 'deliver' | 'atATime'>,
  state: Pick<State, 'silentSince'>,
  signal: AbortSignal,
) {
  const { consumer, stream } = options
  const waiting = await options.bus.js.consumers
    .get(stream, consumer)
    .then((found) => found.info(true))
    .then(({ num_pending }) => num_pending)
    .catch((error: NatsError) => (isMissing(error) ? 'gone' : 'unknown'))
  // Neither the iterator nor the server reports it: the reader waits until an operator creates the consumer again.
  if (waiting !== 'unknown') missing({ stream, consumer }, waiting === 'gone' ? 1 : 0)
  if (waiting === 'gone')
    options.logSeldom.alarm(`${stream} ${consumer}`, { stream, consumer }, 'durable consumer is gone')
  // What waits after a quiet time or an outage has not waited since the last delivery.
  if (typeof waiting === 'string' || waiting === 0) state.silentSince = performance.now()
  if (signal.aborted || performance.now() - state.silentSince < options.silenceMaxMs) return
  options.log.fatal({ consumer, waiting }, 'consumer stopped delivering')
  options.onFatal()
}
