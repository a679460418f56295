import type { ConsumerMessages, JsMsg } from 'nats'
import { type HandlingContext, handle } from '#shared/bus/handling'
import type { Bus } from '#shared/bus/open'
import { findRedrives } from '#shared/db/dead-letter.store'
import { reopen } from '#shared/db/inbox.store'
import { pause } from '#shared/deadline'
import { requestIdHeader, withRequestId } from '#shared/request-id'

/** Prefetching more than is worked on makes redeliveries out of waiting messages (measured). */
const concurrency = 8
const watchEveryMs = 15_000
const silenceMaxMs = 60_000
const redriveEveryMs = 2_000

export type Consumption = HandlingContext & {
  bus: Bus
  stream: 'WEBHOOKS' | 'COMMANDS' | 'EVENTS'
  /** Called when messages wait but none comes: the process must end and be restarted. */
  onStuck: () => void
}

/** Reads a durable consumer (made by provisioning) until disposed; disposing lets work finish. */
export function consume(options: Consumption): AsyncDisposable {
  const stop = new AbortController()
  const state = { lastDeliveryAt: Date.now(), messages: undefined as ConsumerMessages | undefined }
  const loops = [
    read(options, state, stop.signal),
    watch(options, state, stop.signal),
    redrive(options, stop.signal),
  ]
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await state.messages?.close()
      await Promise.all(loops)
    },
  }
}

type State = { lastDeliveryAt: number; messages: ConsumerMessages | undefined }

/** The iterator can end (stream made anew, consumer gone for a moment): it is then opened again. */
async function read(options: Consumption, state: State, signal: AbortSignal) {
  while (!signal.aborted) {
    try {
      const consumer = await options.bus.js.consumers.get(options.stream, options.consumer)
      state.messages = await consumer.consume({ max_messages: concurrency, expires: 5_000 })
      await drain(options, state, state.messages)
    } catch (error) {
      if (!signal.aborted)
        options.log.warn({ err: error, consumer: options.consumer }, 'consumer could not be read')
    }
    await pause(500, signal)
  }
}

async function drain(options: Consumption, state: State, messages: ConsumerMessages) {
  const working = new Set<Promise<void>>()
  for await (const message of messages) {
    state.lastDeliveryAt = Date.now()
    const work = settle(options, message).finally(() => working.delete(work))
    working.add(work)
    if (working.size >= concurrency) await Promise.race(working)
  }
  await Promise.all(working)
}

async function settle(options: Consumption, message: JsMsg): Promise<void> {
  const messageId = message.headers?.get('Nats-Msg-Id') || `${options.stream}:${message.seq}`
  const incoming = { subject: message.subject, messageId, payload: payloadOf(message) }
  const outcome = await withRequestId(message.headers?.get(requestIdHeader), () =>
    handle(options, incoming),
  )
  if (outcome === 'done') message.ack()
  else message.nak(outcome.retryInMs)
}

/** Text that is no JSON goes on as it is: its schema will refuse it, and it is kept for a person. */
function payloadOf(message: JsMsg): unknown {
  try {
    return message.json()
  } catch {
    return message.string()
  }
}

async function watch(options: Consumption, state: State, signal: AbortSignal) {
  while (!signal.aborted) {
    await pause(watchEveryMs, signal)
    if (Date.now() - state.lastDeliveryAt < silenceMaxMs) continue
    const waiting = await options.bus.js.consumers
      .get(options.stream, options.consumer)
      .then((consumer) => consumer.info())
      .then((info) => info.num_pending)
      .catch(() => 0)
    if (waiting === 0 || signal.aborted) continue
    options.log.fatal({ consumer: options.consumer, waiting }, 'consumer stopped delivering')
    options.onStuck()
  }
}

async function redrive(options: Consumption, signal: AbortSignal) {
  const { database, messaging, consumer, log } = options
  while (!signal.aborted) {
    await pause(redriveEveryMs, signal)
    if (signal.aborted) return
    const dead = await findRedrives(database, messaging.deadLetters, consumer).catch(() => [])
    for (const message of dead) {
      await database.transaction(
        async (tx) => void (await reopen(tx, messaging.inbox, consumer, message.messageId)),
      )
      const outcome = await handle(options, message)
      log.info({ messageId: message.messageId, outcome }, 'dead letter redriven')
    }
  }
}
