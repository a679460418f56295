import { pause } from '#shared/deadline'
import type { Log } from '#shared/log'

export type Loop = AsyncDisposable & {
  /** Begins the next round now; during a round, right after it. */
  readonly poke: () => void
}

/**
 * Does `work` again and again, `everyMs` apart, until disposed; disposing waits for the round under
 * way. A round that fails is logged under `name` and comes again: only disposing ends a loop.
 */
export function startLoop(options: {
  name: string
  everyMs: number
  log: Log
  work: (signal: AbortSignal) => Promise<unknown>
}): Loop {
  const { name, everyMs, log, work } = options
  const stop = new AbortController()
  let wake = new AbortController()
  const run = async () => {
    while (!stop.signal.aborted) {
      wake = new AbortController()
      try {
        await work(stop.signal)
      } catch (error) {
        log.warn({ err: error, loop: name }, 'round failed, comes again')
      }
      await pause(everyMs, AbortSignal.any([stop.signal, wake.signal]))
    }
  }
  const ended = run()
  return {
    poke: () => wake.abort(),
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await ended
    },
  }
}
