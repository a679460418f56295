import { watchStarter } from '#infra/local/starter'
import { openProgress, type StartProgress } from './progress'

export type Stopping = {
  readonly signal: AbortSignal
  readonly stop: (why: string) => void
  readonly asked: Promise<void>
}

/** `npx` and `bun run` forward signals that the terminal also sends, so one Ctrl-C arrives repeatedly. */
const sameMs = 3_000

/** A second Ctrl-C exits at once; the kernel then kills the children. */
export function openStopping(): Stopping {
  const controller = new AbortController()
  const asked = Promise.withResolvers<void>()
  let askedAt = 0
  const stop = (why: string) => {
    if (controller.signal.aborted) return
    askedAt = performance.now()
    console.log(`\nStopping: ${why}`)
    controller.abort()
    asked.resolve()
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(name, () => {
      const isSecond = controller.signal.aborted && performance.now() - askedAt > sameMs
      if (!isSecond) return stop(name)
      console.error(`${name} again: exiting without cleanup.`)
      process.exit(130)
    })
  watchStarter(() => stop('the parent process exited'))
  return { signal: controller.signal, stop, asked: asked.promise }
}

export async function whileStarting<T>(
  { signal, asked }: Pick<Stopping, 'signal' | 'asked'>,
  start: (progress: StartProgress) => Promise<T>,
): Promise<T> {
  const progress = openProgress()
  const started = start(progress)
  try {
    await Promise.race([started, asked])
  } finally {
    progress[Symbol.dispose]()
  }
  if (!signal.aborted) return started
  using ending = openProgress()
  return await ending.during('stopping', started)
}
