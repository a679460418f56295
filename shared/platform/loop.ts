import { pause } from '#platform/deadline'
import { isSuppressed } from '#platform/error-suppression'
import type { Log } from '#platform/log'

export type Loop = AsyncDisposable & {
  /** Starts the next round now, or right after the current one. */
  readonly poke: () => void
}

export const idle = 'idle'

/**
 * Starts a loop, whose disposal waits for the current round. After a round that returns `idle`, the next comes after
 * `idleMs`, or when poked. A failure is logged once and then once a minute.
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

const tellEveryMs = 60_000

function tellOfFailures(loop: string, log: Log) {
  let logged = { message: '', at: Number.NEGATIVE_INFINITY }
  let failures = 0
  let isLogged = false
  return {
    failed: (error: Error) => {
      const { message } = error
      failures += 1
      const fields = { err: error, loop, failures }
      if (isSuppressed(log, error)) return log.debug(fields, 'loop failed, will retry')
      const now = performance.now()
      if (logged.message === message && now - logged.at < tellEveryMs) return
      logged = { message, at: now }
      isLogged = true
      log.warn(fields, 'loop failed, will retry')
    },
    ended: () => {
      if (isLogged) log.info({ loop, failures }, 'loop recovered')
      isLogged = false
      failures = 0
    },
  }
}
