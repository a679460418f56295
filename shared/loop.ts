import { pause } from '#shared/deadline'
import type { Log } from '#shared/log'

/**
 * Does `work` again and again, `everyMs` apart, until disposed; disposing waits for the round under
 * way. A round that fails is logged under `name` and comes again: a loop never ends by itself.
 */
export function startLoop(options: {
  name: string
  everyMs: number
  log: Log
  work: (signal: AbortSignal) => Promise<unknown>
}): AsyncDisposable {
  const { name, everyMs, log, work } = options
  const stop = new AbortController()
  const run = async () => {
    while (!stop.signal.aborted) {
      try {
        await work(stop.signal)
      } catch (error) {
        log.warn({ err: error, loop: name }, 'round failed, comes again')
      }
      await pause(everyMs, stop.signal)
    }
  }
  const ended = run()
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await ended
    },
  }
}
