import { pause } from '#shared/deadline'
import type { Log } from '#shared/log'

export type Loop = AsyncDisposable & {
  /** Begins the next round now; during a round, right after it. */
  readonly poke: () => void
}

/** What a round answers that found nothing to do. */
export const idle = 'idle'

/**
 * Does `work` again and again, `everyMs` apart, until disposed; disposing waits for the round under
 * way. After a round that answers `idle` the next comes after `idleMs`, if that is given, unless it is
 * poked. A round that fails is logged under `name` and comes again: only disposing ends a loop.
 */
export function startLoop(options: {
  name: string
  everyMs: number
  idleMs?: number
  log: Log
  work: (signal: AbortSignal) => Promise<unknown>
}): Loop {
  const { name, everyMs, idleMs = everyMs, log, work } = options
  const stop = new AbortController()
  let wake = new AbortController()
  const run = async () => {
    while (!stop.signal.aborted) {
      wake = new AbortController()
      let restMs = everyMs
      try {
        if ((await work(stop.signal)) === idle) restMs = idleMs
      } catch (error) {
        log.warn({ err: error, loop: name }, 'round failed, comes again')
      }
      await pause(restMs, AbortSignal.any([stop.signal, wake.signal]))
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
