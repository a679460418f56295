import type { JsMsg } from 'nats'
import { readDurable } from '#platform/bus/consume'
import { type Bus, openBus } from '#platform/bus/open'
import { type Clock, steadyClock } from '#platform/clock'
import { within } from '#platform/deadline'
import { type Log, type LogThrottled, openLogThrottled } from '#platform/log'
import { startLoop } from '#platform/loop'
import { requestSeconds, timer } from '#platform/metrics/measures'
import type { Runtime } from '#platform/service'
import type { RefusedEvent } from '#shared/messages/events'
import type { Config } from '../config'
import { type Called, call, type Endpoint } from './call'
import type { StoredEvent } from './event'
import { laterMs, retryAfter } from './retry'

/** Calls that are open at a time. */
const atATime = 4
/** How long open calls may still take on shutdown, in ms. */
const graceMs = 1_500

/** Deadline in ms of a call for an operator, which ends before the operator's request does. */
const resendDeadlineMs = 5_000

export type Push = AsyncDisposable & {
  /** Sends an event once. */
  readonly send: (event: StoredEvent) => Promise<Called>
  /** Returns the events whose last call by this instance was refused, newest first. */
  readonly refused: () => readonly RefusedEvent[]
}

/** Number of refused events that an instance reports, because a reply of NATS has at most 1 MiB. */
const refusedMax = 5_000

type PushConfig = Pick<Config, 'natsUrl' | 'natsPasswordIntegrator' | 'eventsUrl' | 'eventsSecrets'>

/** Returns undefined if no events are to be sent. */
export function openPush(
  config: PushConfig,
  clock: Clock,
  runtime: Pick<Runtime, 'log' | 'fatal'>,
  patience: Patience = { everyMs: 15_000, unreadMaxMs: 120_000 },
): Push | undefined {
  const { natsUrl, natsPasswordIntegrator: password, eventsUrl, eventsSecrets: keys } = config
  if (eventsUrl === '') return undefined
  return startPush({ natsUrl, password, endpoint: { url: eventsUrl, keys, clock }, patience, ...runtime })
}

/** Interval at which the connection is checked, and how long it may not respond before an alert is raised, in ms. */
type Patience = { readonly everyMs: number; readonly unreadMaxMs: number }

type PushOptions = Pick<Runtime, 'log' | 'fatal'> & {
  readonly natsUrl: string
  readonly password: string
  readonly endpoint: Endpoint
  readonly patience: Patience
}

/**
 * Sends each event to the integrator's endpoint until it is taken. It has its own connection, because the gateway's user
 * may not read these events. All instances share the consumer.
 */
function startPush({ natsUrl: url, password, endpoint, patience, log, fatal: onFatal }: PushOptions): Push {
  const stop = new AbortController()
  const refused = new Map<number, RefusedEvent>()
  let reading: AsyncDisposable | undefined
  // The gateway serves its users also while this user cannot sign in.
  const opening = openBus({ url, user: 'integrator', password, name: 'integrator', log, onFatal }).then((bus) => {
    if (!stop.signal.aborted) reading = read({ bus, endpoint, log, onFatal, stop: stop.signal, refused })
    return bus
  })
  const watching = watchReading(opening, patience, log)
  return {
    send: (event) => call(endpoint, event, { deadlineMs: resendDeadlineMs, stop: stop.signal }),
    refused: () => {
      const now = new Date(endpoint.clock()).toISOString()
      // Any instance makes the next attempt, and reports it.
      for (const { sequence, retryAt } of refused.values()) if (retryAt < now) refused.delete(sequence)
      return [...refused.values()].reverse().slice(0, refusedMax)
    },
    [Symbol.asyncDispose]: async () => {
      const timer = setTimeout(() => stop.abort(), reading ? graceMs : 0)
      await Promise.all([watching[Symbol.asyncDispose](), reading?.[Symbol.asyncDispose]()])
      clearTimeout(timer)
      stop.abort()
      const closing = opening.then((bus) => bus[Symbol.asyncDispose]())
      // A connection that was never made is not waited for.
      if (reading) await closing
    },
  }
}

/** Deadline of a check of the connection, in ms. */
const checkMs = 1_000

/**
 * Raises an alert while this user cannot reach NATS, as with an old password: then no call is made that could fail, and the
 * gateway's own connection may work.
 */
function watchReading(opening: Promise<Bus>, { everyMs, unreadMaxMs }: Patience, log: Log): AsyncDisposable {
  let bus: Bus | undefined
  let reachedAt = steadyClock()
  void opening.then((opened) => {
    bus = opened
  })
  const isReached = async () => {
    if (!bus) return false
    return within(bus.nc.flush(), checkMs, 'nats').then(
      () => true,
      () => false,
    )
  }
  return startLoop({
    name: 'reading events for the integrator',
    everyMs,
    log,
    work: async () => {
      if (await isReached()) reachedAt = steadyClock()
      const unreadMs = Math.round(steadyClock() - reachedAt)
      if (unreadMs > unreadMaxMs) log.alarm({ user: 'integrator', unreadMs }, 'no events read for the integrator')
    },
  })
}

type Reading = {
  bus: Bus
  endpoint: Endpoint
  log: Log
  onFatal: () => void
  stop: AbortSignal
  refused: Map<number, RefusedEvent>
}

function read({ bus, endpoint, log, onFatal, stop, refused }: Reading): AsyncDisposable {
  const logSeldom = openLogThrottled(log, steadyClock, 60_000)
  return readDurable({
    bus,
    stream: 'EVENTS',
    consumer: 'integrator',
    log,
    onFatal,
    logSeldom,
    atATime,
    // All unacknowledged events may wait for their retries.
    silenceMaxMs: 1.5 * laterMs,
    deliver: (message) => deliver({ endpoint, log, logSeldom, stop, refused }, message),
  })
}

type Delivering = Pick<Reading, 'endpoint' | 'log' | 'stop' | 'refused'> & { logSeldom: LogThrottled }

async function deliver({ endpoint, log, logSeldom, stop, refused }: Delivering, message: JsMsg): Promise<void> {
  const startedMs = performance.now()
  const tell = (outcome: (typeof outcomes)[number]) => calls.since(startedMs, { outcome })
  // It may have waited for its turn, and the call takes up to half of the time until it is delivered again.
  message.working()
  const event = storedEvent(message)
  const called = await call(endpoint, event, { stop }).catch((): Called => ({ taken: false, why: notJson }))
  refused.delete(event.seq)
  if (called.taken) {
    message.ack()
    return tell('taken')
  }
  if (stop.aborted) return message.nak()
  const { subject: type, seq: sequence, messageId } = event
  const { deliveryCount: attempts } = message.info
  const fields = { type, sequence, messageId, attempts, why: called.why }
  const retryInMs = called.why === notJson ? undefined : retryAfter(attempts)
  if (retryInMs === undefined) {
    message.term('given up')
    log.alarm(fields, 'event not delivered, given up')
    return tell('given_up')
  }
  logSeldom.warn(called.why, { ...fields, retryInMs }, 'event not taken by the integrator, will retry')
  const retryAt = new Date(endpoint.clock() + retryInMs).toISOString()
  refused.set(sequence, { sequence, why: called.why, retryAt })
  message.nak(retryInMs)
  return tell('refused')
}

const storedEvent = (message: JsMsg): StoredEvent => ({
  subject: message.subject,
  seq: message.seq,
  messageId: message.headers?.get('Nats-Msg-Id') ?? '',
  storedAt: new Date(message.info.timestampNanos / 1e6),
  payload: message.string(),
})

const notJson = 'payload is not JSON'

const outcomes = ['taken', 'refused', 'given_up'] as const
const calls = timer({
  what: 'event_push_duration',
  help: "Duration of a call to the integrator's endpoint, by outcome, in seconds.",
  labels: { outcome: outcomes },
  buckets: requestSeconds,
})
