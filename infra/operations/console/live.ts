import type { Msg, Subscription } from 'nats'
import type { Bus } from '#platform/bus/open'
import type { Clock } from '#platform/clock'
import { within } from '#platform/deadline'
import type { Log } from '#platform/log'
import { topics } from '#shared/messages/catalogue'
import { type FeedEntry, feedEntryOf } from './event-feed'

/** Entry as the page receives it. `number` counts in this process; `at` is the time of arrival. */
export type Heard = FeedEntry & { readonly number: number; readonly at: string }

export type PageWatcher = (heard: Heard) => void

/** Stream of messages, which is subscribed only while a page watches. */
export type Live = AsyncDisposable & {
  /** Adds a page. `listening` resolves once the subscriptions are active. */
  readonly watch: (watcher: PageWatcher) => {
    lately: () => readonly Heard[]
    listening: Promise<unknown>
    end: () => void
  }
}

/** Number of recent messages that a newly opened page receives. */
const latelyMax = 500

/** Time to keep the connection after the last page closes, in ms. It covers a reload or a short pause. */
const lingerMs = 10_000

const leaveDeadlineMs = 1_000

export type LiveOptions = {
  /** Opens a connection as the NATS user `console`. */
  open: () => Promise<Bus>
  clock: Clock
  log: Log
  lingerMs?: number
}

/**
 * Opens the stream. It subscribes without consumers, rows or requests, so that watching does not affect the services.
 */
export function openLive(options: LiveOptions): Live {
  const watchers = new Set<PageWatcher>()
  let lately: Heard[] = []
  let listening: Promise<AsyncDisposable> | undefined
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
  const begin = (): Promise<AsyncDisposable> => {
    clearTimeout(leaving)
    if (listening) return listening
    const open = listen(options, hear)
    listening = open
    open.catch(() => {
      if (listening === open) listening = undefined
    })
    return open
  }
  return {
    watch: (watcher) => {
      watchers.add(watcher)
      const end = () => {
        if (watchers.delete(watcher) && watchers.size === 0) leaveSoon()
      }
      return { lately: () => lately, listening: begin(), end }
    },
    [Symbol.asyncDispose]: async () => {
      clearTimeout(leaving)
      // The process must exit even if NATS never responds.
      await within(leave(), leaveDeadlineMs, 'the bus').catch(() => {})
    },
  }
}

async function listen(options: LiveOptions, hear: (message: Msg) => void): Promise<AsyncDisposable> {
  const bus = await options.open()
  const take = (error: Error | null, message: Msg) => {
    if (error) return options.log.warn({ err: error }, 'console subscription failed')
    hear(message)
  }
  const subscriptions: Subscription[] = topics.map(({ subject }) => bus.nc.subscribe(subject, { callback: take }))
  try {
    await bus.nc.flush()
  } catch (error) {
    // If the connection stayed open, its subscriptions would repeat every message to the watchers of the next
    // connection.
    await bus[Symbol.asyncDispose]()
    throw error
  }
  return {
    [Symbol.asyncDispose]: async () => {
      for (const subscription of subscriptions) subscription.unsubscribe()
      await bus[Symbol.asyncDispose]()
    },
  }
}

function read(message: Msg): FeedEntry | undefined {
  try {
    return feedEntryOf(message.subject, message.json())
  } catch {
    return undefined
  }
}
