import type { Msg, Subscription } from 'nats'
import type { Bus } from '#shared/bus/open'
import type { Clock } from '#shared/clock'
import { within } from '#shared/deadline'
import type { Log } from '#shared/log'
import { topics } from '#shared/messages/catalogue'
import { type Motion, motionOf } from './motion'

/** A motion with its place in the order of this process, and when it was heard. */
export type Heard = Motion & { readonly number: number; readonly at: string }

export type Watcher = (heard: Heard) => void

/** What moves on the bus, for as long as somebody watches. */
export type Live = AsyncDisposable & {
  /**
   * What was heard lately, oldest first, and from now on everything until `end`; `listening` comes
   * true once nothing is missed any more.
   */
  readonly watch: (watcher: Watcher) => {
    lately: readonly Heard[]
    listening: Promise<unknown>
    end: () => void
  }
  /** The connection, opened now if nobody watches, and left some time later. */
  readonly bus: () => Promise<Bus>
  /** How far each reader of a stream is; none while nobody watches. */
  readonly queues: () => Promise<readonly Queue[]>
}

/** What a stream holds for one of its readers. */
export type Queue = {
  readonly stream: string
  readonly reader: string
  readonly waiting: number
  readonly underWay: number
  readonly redelivered: number
}

/** So much is shown to whoever opens the page while others watch. */
const latelyMax = 500

/** A page that is loaded again, or a pause of a moment, is not to open the bus anew. */
const lingerMs = 10_000

const leaveDeadlineMs = 1_000

export type LiveOptions = {
  /** Connects as the user of the console. */
  open: () => Promise<Bus>
  clock: Clock
  log: Log
  lingerMs?: number
}

/**
 * Listens to the messages of all streams as they are published: no consumer, no row and no question,
 * so that nobody notices a watcher. Nothing is heard, and no connection stands, while nobody watches.
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
      leave().catch((error) => options.log.warn({ err: error }, 'console did not leave the bus'))
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
      // A bus that does not answer is asked for ever: the process ends without it.
      await within(leave(), leaveDeadlineMs, 'the bus').catch(() => {})
    },
  }
}

type Listening = AsyncDisposable & { readonly bus: Bus }

async function listen(options: LiveOptions, hear: (message: Msg) => void): Promise<Listening> {
  const bus = await options.open()
  const take = (error: Error | null, message: Msg) => {
    if (error) return options.log.warn({ err: error }, 'console cannot hear a subject')
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

/** A message of another form than its schema is not ours to judge: it is left out. */
function read(message: Msg): Motion | undefined {
  try {
    return motionOf(message.subject, message.json())
  } catch {
    return undefined
  }
}
