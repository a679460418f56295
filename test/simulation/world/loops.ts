import type { steadyClock as SteadyClock } from '#platform/clock'
import type { idle as Idle, Loop } from '#platform/loop'
import { choiceMax } from './choices'
import type { Process, World } from './world'

// These loops run on the world's clock.

let world: World | undefined

export function enter(next: World): void {
  world = next
  globalThis.setTimeout = ((run: () => void, ms = 0) => next.after(ms, next.current, run)) as never
  globalThis.clearTimeout = ((entry: never) => next.cancel(entry)) as never
  Math.random = () => next.choices.draw() / choiceMax
  globalThis.setImmediate = ((run: () => void) => next.after(0, next.current, run)) as never
}

/** Clock that a change of the machine's clock does not move. */
export const steadyClock: typeof SteadyClock = () => world?.now ?? 0

const never = new AbortController().signal

export const idle: typeof Idle = 'idle'

/** Least interval in ms; more rounds would find nothing new. */
const leastMs = 1_000

/** Starts a loop as `shared/platform/loop.ts` does; it ends with its process. */
export function startLoop(options: {
  everyMs: number
  idleMs?: number
  work: (signal: AbortSignal) => Promise<unknown>
}): Loop {
  const { work } = options
  if (!world) {
    lastWork = work
    return { poke: () => {}, [Symbol.asyncDispose]: async () => {} }
  }
  const everyMs = Math.max(leastMs, options.everyMs)
  const idleMs = Math.max(everyMs, options.idleMs ?? 0)
  const here = world
  const process = here.current
  let isRunning = false
  let isPoked = false
  let next: ReturnType<World['after']> | undefined
  const plan = (ms: number) => {
    next = here.after(ms, process, round)
  }
  const rest = (ms: number) => {
    isRunning = false
    plan(isPoked ? 0 : ms)
    isPoked = false
  }
  function round(): void {
    isRunning = true
    work(never).then(
      (found) => rest(found === idle ? idleMs : everyMs),
      () => rest(everyMs),
    )
  }
  plan(0)
  return {
    poke: () => {
      if (isRunning) {
        isPoked = true
        return
      }
      here.cancel(next)
      plan(0)
    },
    [Symbol.asyncDispose]: async () => {},
  }
}

let lastWork: ((signal: AbortSignal) => Promise<unknown>) | undefined

/** Runs one round of the loop opened last, without a world. */
export async function lastRound(): Promise<void> {
  let rounds = 0
  const once = {
    get aborted() {
      return rounds++ > 0
    },
  }
  await lastWork!(once as AbortSignal)
}

export type SimulatedBus = {
  readonly publish: (message: {
    readonly id: string
    readonly subject: string
    readonly payload: unknown
  }) => Promise<'stored' | 'duplicate'>
  readonly process: Process
}

export const publish = (
  bus: unknown,
  message: Parameters<SimulatedBus['publish']>[0],
): Promise<'stored' | 'duplicate'> => (bus as SimulatedBus).publish(message)
