import { rm, writeFile } from 'node:fs/promises'
import { within } from '#shared/deadline'
import type { Log } from '#shared/log'
import { startLoop } from '#shared/loop'

/** What a service cannot work without; a rejection, or no answer, says that it is not there. */
export type Vital = { readonly name: string; readonly ask: () => Promise<unknown> }

const everyMs = 5_000
const answerMs = 2_000

/**
 * Says by the age of a file that this process lives and what it needs answers: a probe looks at the
 * file, and neither starts a program that loads half of the service nor opens a connection. The file
 * is written again every 5 s, while everything vital answers within 2 s; disposing takes it away.
 */
export function startBeating(file: string, vitals: readonly Vital[], log: Log): AsyncDisposable {
  const loop = startLoop({
    name: 'alive',
    everyMs,
    log,
    work: async () => {
      const asked = vitals.map(({ name, ask }) => within(ask(), answerMs, name))
      // Whoever needs what does not answer says so itself.
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
