import { systemClock } from '#shared/clock'
import { pause } from '#shared/deadline'
import type { Log } from '#shared/log'
import { isExcused } from '#shared/outages/excuses'

export type Loop = AsyncDisposable & {
  /** Begins the next round now; during a round, right after it. */
  readonly poke: () => void
}

/** What a round answers that found nothing to do. */
export const idle = 'idle'

/**
 * Does `work` again and again, `everyMs` apart, until disposed; disposing waits for the round under
 * way. After a round that answers `idle` the next comes after `idleMs`, if that is given, unless it is
 * poked. A round that fails comes again: only disposing ends a loop. Failing is logged under `name`, once
 * and then once a minute while it lasts, and that it works again.
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
  const failing = tellOfFailures(name, log)
  const run = async () => {
    while (!stop.signal.aborted) {
      wake = new AbortController()
      let restMs = everyMs
      try {
        if ((await work(stop.signal)) === idle) restMs = idleMs
        failing.ended()
      } catch (error) {
        failing.failed(error as Error)
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

/** The same failure is told so often while it lasts. */
const tellEveryMs = 60_000

function tellOfFailures(loop: string, log: Log) {
  let told = { message: '', at: Number.NEGATIVE_INFINITY }
  let failures = 0
  let isTold = false
  return {
    failed: (error: Error) => {
      const { message } = error
      failures += 1
      const fields = { err: error, loop, failures }
      if (isExcused(log, error)) return log.debug(fields, 'round failed, comes again')
      const now = systemClock()
      if (told.message === message && now - told.at < tellEveryMs) return
      told = { message, at: now }
      isTold = true
      log.warn(fields, 'round failed, comes again')
    },
    ended: () => {
      if (isTold) log.info({ loop, failures }, 'round works again')
      isTold = false
      failures = 0
    },
  }
}
