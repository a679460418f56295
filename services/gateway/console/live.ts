import type { Msg, Subscription } from 'nats'
import type { Bus } from '#shared/bus/open'
import type { Clock } from '#shared/clock'
import { within } from '#shared/deadline'
import type { Log } from '#shared/log'
import { topics } from '#shared/messages/catalogue'
import { type Motion, motionOf } from './motion'

/** A message with its sequence number in this process and its time of arrival. */
export type Heard = Motion & { readonly number: number; readonly at: string }

export type Watcher = (heard: Heard) => void

/** Live messages from the bus, received only while a page watches. */
export type Live = AsyncDisposable & {
  /**
   * Returns recent messages, oldest first, and passes all later ones to `watcher` until `end`.
   * `listening` resolves once the subscriptions are active.
   */
  readonly watch: (watcher: Watcher) => {
    lately: readonly Heard[]
    listening: Promise<unknown>
    end: () => void
  }
  /** Returns the connection, opening it if no page watches; it closes some time later. */
  readonly bus: () => Promise<Bus>
  /** Returns the backlog of each consumer; empty while no page watches. */
  readonly queues: () => Promise<readonly Queue[]>
}

/** Backlog of one consumer of a stream. */
export type Queue = {
  readonly stream: string
  readonly reader: string
  readonly waiting: number
  readonly underWay: number
  readonly redelivered: number
}

/** Number of recent messages sent to a newly opened page. */
const latelyMax = 500

/** Keeps the connection open across a page reload or a short pause. */
const lingerMs = 10_000

const leaveDeadlineMs = 1_000

export type LiveOptions = {
  /** Connects as the NATS user `console`. */
  open: () => Promise<Bus>
  clock: Clock
  log: Log
  lingerMs?: number
}

/**
 * Subscribes to the subjects of all streams, without consumers, rows or requests, so that watching does
 * not affect the services. Without a watcher there is no connection.
 */
export function openLive(options: LiveOptions): Live {
  const watchers = new Set<Watcher>()
  let lately: Heard[] = []
  let listening: Promise<Listening> | undefined
  let number = 0
  let leaving: ReturnType<typeof setTimeout> | undefined

  const hear = (message: Msg) => {
    const motion = read(message)
    if (!motion) return
    number += 1
    const heard = { ...motion, number, at: new Date(options.clock()).toISOString() }
    lately = [...lately.slice(1 - latelyMax), heard]
    for (const watcher of watchers) watcher(heard)
  }
  const leave = async () => {
    const open = listening
    listening = undefined
    lately = []
    await (await open?.catch(() => undefined))?.[Symbol.asyncDispose]()
  }
  const leaveSoon = () => {
    clearTimeout(leaving)
    leaving = setTimeout(() => {
      leave().catch((error) => options.log.warn({ err: error }, 'console bus disconnect failed'))
    }, options.lingerMs ?? lingerMs)
  }
  const begin = (): Promise<Listening> => {
    clearTimeout(leaving)
    listening ??= listen(options, hear)
    return listening
  }
  return {
    watch: (watcher) => {
      watchers.add(watcher)
      const end = () => {
        if (watchers.delete(watcher) && watchers.size === 0) leaveSoon()
      }
      return { lately, listening: begin(), end }
    },
    bus: async () => {
      const { bus } = await begin()
      if (watchers.size === 0) leaveSoon()
      return bus
    },
    queues: async () => {
      const open = await listening
      return open ? readQueues(open.bus) : []
    },
    [Symbol.asyncDispose]: async () => {
      clearTimeout(leaving)
      // The deadline lets the process exit even if the bus never responds.
      await within(leave(), leaveDeadlineMs, 'the bus').catch(() => {})
    },
  }
}

type Listening = AsyncDisposable & { readonly bus: Bus }

async function listen(options: LiveOptions, hear: (message: Msg) => void): Promise<Listening> {
  const bus = await options.open()
  const take = (error: Error | null, message: Msg) => {
    if (error) return options.log.warn({ err: error }, 'console subscription failed')
    hear(message)
  }
  const subscriptions: Subscription[] = topics.map(({ subject }) =>
    bus.nc.subscribe(subject, { callback: take }),
  )
  await bus.nc.flush()
  return {
    bus,
    [Symbol.asyncDispose]: async () => {
      for (const subscription of subscriptions) subscription.unsubscribe()
      await bus[Symbol.asyncDispose]()
    },
  }
}

const streams = [...new Set(topics.map(({ stream }) => stream))]
const queuesDeadlineMs = 2_000

async function readQueues({ nc }: Bus): Promise<Queue[]> {
  const manager = await nc.jetstreamManager({ checkAPI: false, timeout: queuesDeadlineMs })
  const found = streams.map(async (stream) => {
    const consumers = await manager.consumers.list(stream).next()
    return consumers.map(({ name, num_pending, num_ack_pending, num_redelivered }) => ({
      ...{ stream, reader: name, waiting: num_pending },
      ...{ underWay: num_ack_pending, redelivered: num_redelivered },
    }))
  })
  return (await Promise.all(found)).flat()
}

/** Reads a message; skips one that does not match its schema. */
function read(message: Msg): Motion | undefined {
  try {
    return motionOf(message.subject, message.json())
  } catch {
    return undefined
  }
}
