import { watchStarter } from '#infra/local/starter'
import { openProgress, type Progress } from './progress'

/** Whether a person, or whoever started us, wants this to end. */
export type Stopping = {
  /** Aborts at the first word, which is told at once. */
  readonly signal: AbortSignal
  readonly stop: (why: string) => void
  /** Resolves when it aborts. */
  readonly asked: Promise<void>
}

/** `npx` and `bun run` pass on what the terminal has sent to us already: one Ctrl-C comes several times. */
const sameMs = 3_000

/** Listens from now on. A second Ctrl-C ends at once, and with us what the kernel ties to us. */
export function openStopping(): Stopping {
  const controller = new AbortController()
  const asked = Promise.withResolvers<void>()
  let askedAt = 0
  const stop = (why: string) => {
    if (controller.signal.aborted) return
    askedAt = Date.now()
    console.log(`\nStopping: ${why}`)
    controller.abort()
    asked.resolve()
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(name, () => {
      const isSecond = controller.signal.aborted && Date.now() - askedAt > sameMs
      if (!isSecond) return stop(name)
      console.error(`${name} again: it ends without order.`)
      process.exit(130)
    })
  watchStarter(() => stop('its starter is gone'))
  return { signal: controller.signal, stop, asked: asked.promise }
}

/** Says what a start waits for; and once it is told to end, what it still waits for then. */
export async function whileStarting<T>(
  { signal, asked }: Pick<Stopping, 'signal' | 'asked'>,
  start: (progress: Progress) => Promise<T>,
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
  return await ending.during('what was started ends', started)
}
