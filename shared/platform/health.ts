import { rm, writeFile } from 'node:fs/promises'
import { within } from '#platform/deadline'
import type { Log } from '#platform/log'
import { startLoop } from '#platform/loop'

/** A dependency the service cannot work without. A rejection or a timeout means it is down. */
export type Vital = { readonly name: string; readonly ask: () => Promise<unknown> }

const everyMs = 5_000
const answerMs = 2_000

/**
 * Maintains a liveness file: its age shows that this process runs and that its dependencies
 * respond. A probe only checks the file; it does not start a program that loads half the service,
 * or open a connection. The file is rewritten every 5 s while every dependency responds within 2 s,
 * and removed on dispose.
 */
export function startBeating(file: string, vitals: readonly Vital[], log: Log): AsyncDisposable {
  const loop = startLoop({
    name: 'alive',
    everyMs,
    log,
    work: async () => {
      const asked = vitals.map(({ name, ask }) => within(ask(), answerMs, name))
      // The outage is logged by the code that needs the dependency.
      const answered = (await Promise.allSettled(asked)).every((one) => one.status === 'fulfilled')
      if (answered) await writeFile(file, new Date().toISOString())
    },
  })
  return {
    [Symbol.asyncDispose]: async () => {
      await loop[Symbol.asyncDispose]()
      await rm(file, { force: true })
    },
  }
}
