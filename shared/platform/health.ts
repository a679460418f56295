import { rm, writeFile } from 'node:fs/promises'
import { within } from '#platform/deadline'
import type { Log } from '#platform/log'
import { startLoop } from '#platform/loop'

/** A dependency, which is down if `ask` rejects or times out. */
export type Vital = { readonly name: string; readonly ask: () => Promise<unknown> }

const everyMs = 5_000
const answerMs = 2_000

/**
 * Writes a file whose age a probe reads. It is rewritten every 5 s while every dependency responds, and removed on
 * dispose.
 */
export function startHealthFile(file: string, vitals: readonly Vital[], log: Log): AsyncDisposable {
  const loop = startLoop({
    name: 'alive',
    everyMs,
    log,
    work: async () => {
      const asked = vitals.map(({ name, ask }) => within(ask(), answerMs, name))
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
