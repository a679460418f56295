import { type Child, type Command, startChild } from '#infra/local/child'
import { pause } from '#platform/deadline'

export type ProcessDeath = {
  name: string
  how: string
  livedMs: number
  restartInMs: number
  logFile: string
}

export type Supervised = {
  readonly name: string
  readonly pid: () => number
  readonly kill: (signal: NodeJS.Signals) => void
  /** Ends the process, which stays down until `start`. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<void>
  readonly start: () => void
}

export type ProcessWatcher = {
  onDeath: (death: ProcessDeath) => void
  onStart: (name: string, pid: number) => void
}

const backoffMinMs = 100
const backoffMaxMs = 5_000
/** Time in ms after which the next death starts the backoff from the minimum. */
const recoveredMs = 10_000

export function supervise(command: Command, watcher: ProcessWatcher): Supervised {
  let child: Child | undefined
  let wanted: AbortController | undefined
  let backoffMs = backoffMinMs

  // Each start has its own signal: a loop that still waits must not take a later start for its own.
  const launch = async (stopped: AbortSignal) => {
    while (!stopped.aborted) {
      const startedAt = performance.now()
      child = startChild(command)
      watcher.onStart(command.name, child.pid)
      const how = await child.exited
      if (stopped.aborted) return
      const livedMs = Math.round(performance.now() - startedAt)
      const { name, logFile, restMaxMs = backoffMaxMs } = command
      backoffMs = livedMs > recoveredMs ? backoffMinMs : Math.min(restMaxMs, backoffMs * 2)
      watcher.onDeath({ name, how, livedMs, restartInMs: backoffMs, logFile })
      await pause(backoffMs, stopped)
    }
  }
  const start = () => {
    if (wanted) return
    wanted = new AbortController()
    backoffMs = backoffMinMs / 2
    void launch(wanted.signal)
  }
  start()
  return {
    name: command.name,
    pid: () => child?.pid ?? -1,
    kill: (signal) => child?.kill(signal),
    stop: async (signal) => {
      wanted?.abort()
      wanted = undefined
      await child?.end(signal)
    },
    start,
  }
}
